/** Rules for passwords. The main rule is the length; no classes of characters are required (NIST SP 800-63B, 3.1.1). */
import { limits } from './limits.ts'

const { min, max } = limits.signIn.password

/** @returns a sentence that says what is wrong with the password; null when it is acceptable */
export function passwordFault(password: string): string | null {
  const length = Array.from(password).length
  if (length < min || length > max) return `A password must have ${min} to ${max} characters.`
  if (/[\0\p{Cs}]/u.test(password)) return 'A password must not contain null characters or invalid Unicode.'
  if (new Set(password).size < 4)
    return 'This password is too easy to guess. Use at least 4 different characters.'
  return null
}
