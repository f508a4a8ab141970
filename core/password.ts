/** What a password has to be; no kinds of characters are asked for, length is what counts (NIST SP 800-63B, 3.1.1). */
import { limits } from './limits.ts'

const { min, max } = limits.signIn.password

/** @returns what is wrong with it, as a sentence; null when nothing is */
export function passwordFault(password: string): string | null {
  const length = Array.from(password).length
  if (length < min || length > max) return `A password has ${min} to ${max} characters.`
  if (/[\0\p{Cs}]/u.test(password)) return 'A password is text that can be typed.'
  if (new Set(password).size < 4) return 'This password is too easy to guess.'
  return null
}
