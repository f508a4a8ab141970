/** Tokens of sessions: `corks_`, the claims in base64url, and a signature. */
import type { Signing } from '../../platform/secrets/signatures.ts'
import type { SessionClaims } from '../../sql/acting-session.ts'
import type { SessionTokens } from '../http/route.ts'

const prefix = 'corks_'
const pattern = /^corks_([\w-]+)\.([\w-]{43})$/
/** No token that the service makes is longer. */
const maxLength = 8192

export function openSessionTokens(signing: Signing): SessionTokens {
  return {
    make(claims) {
      const text = Buffer.from(JSON.stringify(claims)).toString('base64url')
      return `${prefix}${text}.${signing.sign(text)}`
    },
    read(token) {
      if (token.length > maxLength) return null
      const [, text, signature] = pattern.exec(token) ?? []
      if (text === undefined || !signing.isSigned(text, signature!)) return null
      return JSON.parse(Buffer.from(text, 'base64url').toString()) as SessionClaims
    },
  }
}
