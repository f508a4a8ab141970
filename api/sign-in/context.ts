import type { Clock } from '../../platform/clock.ts'
import type { Mailer } from '../../platform/mail.ts'
import type { Encryption } from '../../platform/secrets/encryption.ts'
import type { Passwords } from '../../platform/secrets/passwords.ts'
import type { Database } from '../../sql/database.ts'
import type { Sessions } from './session.ts'

/** The dependencies of the pages. */
export interface SignInContext {
  database: Database
  clock: Clock
  sessions: Sessions
  passwords: Passwords
  /** Seals the cookies of browsers in which an account has signed in. Each is bound to its account. */
  devices: Encryption
  /** Sends invitations. Null: their links are shown. */
  mailer: Mailer | null
  publicUrl(): string
}
