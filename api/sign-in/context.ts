import type { Encryption } from '../../platform/secrets/encryption.ts'
import type { Passwords } from '../../platform/secrets/passwords.ts'
import type { Database } from '../../sql/database.ts'
import type { Sessions } from './session.ts'

/** What the pages work with; made once, see register.ts. */
export interface SignInContext {
  database: Database
  sessions: Sessions
  passwords: Passwords
  /** Cookies of browsers that an account has signed in from, each sealed about its account. */
  devices: Encryption
  publicUrl(): string
}
