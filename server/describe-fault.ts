/** Why a start or a command failed, for the person at the terminal: one line for what they can mend, a stack for the rest. */
import { ServiceError } from '../core/errors.ts'
import { AccountError } from '../sql/accounts/accounts.ts'
import { errorCode } from '../sql/database.ts'
import { ConfigError } from './config.ts'

type Fault = Error & NodeJS.ErrnoException & { address?: string; port?: number; hostname?: string }

export function describeFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return sentence(error) ?? error.stack ?? error.message
}

function sentence(error: Fault): string | null {
  const code = errorCode(error)
  const at = [error.address ?? error.hostname, error.port].filter((part) => part !== undefined).join(':')
  if (error.syscall === 'listen' || error.syscall === 'getaddrinfo') {
    switch (code) {
      case 'EADDRINUSE':
        return `Something listens on ${at} already: end it, or set PORT to another port.`
      case 'EACCES':
        return `Listening on ${at} is not permitted: set PORT to one above 1023.`
      case 'EADDRNOTAVAIL':
      case 'ENOTFOUND':
      case 'EAI_AGAIN':
        return `${at || 'A host name'} is not an address of this machine, or can't be resolved: check HOST and DATABASE_URL.`
    }
  }
  switch (code) {
    case 'ECONNREFUSED':
    case 'CONNECT_TIMEOUT':
    case 'EHOSTUNREACH':
    case 'ETIMEDOUT':
      return `The database${at && ` at ${at}`} can't be reached (${code}): check DATABASE_URL, and that it runs.`
    case 'ERR_INVALID_URL':
      return 'DATABASE_URL is not a URL that can be read: postgres://user:password@host:port/database.'
    case '28P01':
    case '28000':
    case '3D000':
      return `The database refuses the connection: ${error.message}. Check DATABASE_URL.`
    case '42501':
      return `The role in DATABASE_URL lacks a right: ${error.message}. It has to own its database and to be able to create roles.`
    case 'EACCES':
    case 'EPERM':
    case 'ENOTDIR':
    case 'EEXIST':
    case 'EROFS':
    case 'ENOSPC':
      return `DATA_DIR can't be used: ${error.message}.`
  }
  // Messages of our own are sentences; an exception of another class is a fault of the program.
  const ours = error instanceof ConfigError || error instanceof AccountError || error instanceof ServiceError
  return ours || Object.getPrototypeOf(error) === Error.prototype ? error.message : null
}
