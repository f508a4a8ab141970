/** The log: one JSON object a line on standard output, with what must stay secret blotted out, wherever it turns up. */
import { pino, type DestinationStream, type Logger } from 'pino'
import { tokenPrefix } from '../sql/accounts/tokens.ts'

/** Tokens, also a mistyped one is nearly one, and the secrets of webhooks. */
const tokens = new RegExp(`(${tokenPrefix})[\\w-]{16,}|(whsec_)[\\w+/=%-]{16,64}`, 'g')

/** @param secrets texts that no line may hold */
export function openLog(level: string, secrets: string[], destination?: DestinationStream): Logger {
  const blotOut = redactor(secrets)
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: blotOut },
    },
    destination ?? pino.destination({ fd: 1, sync: true }),
  )
}

export function redactor(secrets: string[]): (text: string) => string {
  // As they stand in JSON, and as they stand in a URL.
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

/** The password of a database URL, as it is and as it is written there. */
export function passwordsIn(url: string | null): string[] {
  const [, password] = /^\w+:\/\/[^/@:]*:([^@/]+)@/.exec(url ?? '') ?? []
  if (password === undefined) return []
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    return [password]
  }
}
