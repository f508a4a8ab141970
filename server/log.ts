/** The log: one JSON object per line on standard output, with the version. Secrets are redacted wherever they occur in a line. */
import { pino, type DestinationStream, type Logger } from 'pino'
import { tokenPrefix } from '../sql/accounts/tokens.ts'
import { version } from './version.ts'

/** Matches access tokens and webhook secrets. Mistyped tokens match too, because they reveal most of a real one. */
const tokens = new RegExp(`(${tokenPrefix})[\\w-]{16,}|(whsec_)[\\w+/=%-]{16,64}`, 'g')

/** @param secrets texts that must not occur in any line */
export function openLog(level: string, secrets: string[], destination?: DestinationStream): Logger {
  const redact = redactor(secrets)
  return pino(
    {
      level,
      base: { version },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: redact },
    },
    destination ?? pino.destination({ fd: 1, sync: true }),
  )
}

export function redactor(secrets: string[]): (text: string) => string {
  // Each secret as it is, as JSON escapes it, and as a URL encodes it.
  const forms = secrets.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
  ])
  const literals = [...new Set(forms)].filter((form) => form.length >= 8)
  return (text) => {
    let clean = text.replace(tokens, '$1$2[redacted]')
    for (const literal of literals) clean = clean.replaceAll(literal, '[redacted]')
    return clean
  }
}

/** Returns the password of a database URL, encoded as in the URL and decoded. Empty when the URL has none. */
export function passwordsIn(url: string | null): string[] {
  const [, password] = /^\w+:\/\/[^/@:]*:([^@/]+)@/.exec(url ?? '') ?? []
  if (password === undefined) return []
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    return [password]
  }
}
