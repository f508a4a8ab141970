/**
 * Describes why a start or a command failed. An error that the operator can fix becomes one line that says how; any
 * other error keeps its stack.
 */
import { ServiceError } from '../core/errors.ts'
import { ArchiveError } from '../platform/archive/archive-error.ts'
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
        return `Another process already listens on ${at}. Stop it, or set PORT or METRICS_PORT to another port.`
      case 'EACCES':
        return `This user may not listen on ${at}. Set PORT or METRICS_PORT to a port above 1023.`
      case 'EADDRNOTAVAIL':
      case 'ENOTFOUND':
      case 'EAI_AGAIN':
        return `${at || 'A host name'} is not an address of this machine, or can't be resolved. Check HOST, METRICS_HOST and DATABASE_URL.`
    }
  }
  switch (code) {
    case 'ECONNREFUSED':
    case 'CONNECT_TIMEOUT':
    case 'EHOSTUNREACH':
    case 'ETIMEDOUT':
      return `The database${at && ` at ${at}`} can't be reached (${code}). Check DATABASE_URL, and that the database runs.`
    case 'ERR_INVALID_URL':
      return 'DATABASE_URL is not a valid URL. Use postgres://user:password@host:port/database.'
    case '28P01':
    case '28000':
    case '3D000':
      return `The database refuses the connection: ${error.message}. Check DATABASE_URL.`
    case '53100':
      return `The disk of the database is full: ${error.message}. Make room there.`
    case 'CONNECTION_CLOSED':
    case 'CONNECTION_SILENT':
    case '57P01':
    case '57P03':
      return `The connection to the database was lost (${code}). Check that the database runs, and try again.`
    case '42501':
      return `The role in DATABASE_URL lacks a privilege: ${error.message}. The role must own its database and must be allowed to create roles.`
    case 'EACCES':
    case 'EPERM':
    case 'ENOTDIR':
    case 'EEXIST':
    case 'EROFS':
    case 'ENOSPC':
      return `DATA_DIR can't be used: ${error.message}. Set DATA_DIR to a folder that this user can write to.`
  }
  // Our own messages are written for the operator. An exception of any other class is a bug, so show its stack.
  const ours = [ConfigError, AccountError, ServiceError, ArchiveError].some((kind) => error instanceof kind)
  return ours || Object.getPrototypeOf(error) === Error.prototype ? error.message : null
}
