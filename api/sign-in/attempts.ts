/**
 * How often a password may be tried. Two bounds for strangers: of the address, and of the account, whether there is one
 * or not. A browser from which the account has signed in before goes by a bound of its own instead (OWASP's device
 * cookies): nobody's attempts keep people out of the browser that they use. In another browser they wait a minute and a
 * half at most after the last of them, or take a one-time link, which has no bound.
 */
import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../core/errors.ts'
import { network } from '../../platform/client-address.ts'
import type { PasswordCheck } from '../../platform/secrets/passwords.ts'
import { giveBackAttempt, takeAttempt, type Allowance } from '../../sql/accounts/sign-in-allowances.ts'
import type { SignInContext } from './context.ts'
import { readCookie, writeCookie } from './cookies.ts'

const ofAddress = { burst: 30, seconds: 20 }
export const ofAccount = { burst: 10, seconds: 90 }
const deviceDays = 365

/** @param userId null: there is no such account */
export function allowancesOf(
  { devices, publicUrl }: SignInContext,
  request: FastifyRequest,
  { email, userId }: { email: string; userId: string | null },
): Allowance[] {
  const cookie = readCookie(request.headers.cookie, 'device', publicUrl())
  const device = cookie === undefined || userId === null ? null : openDevice(devices, cookie, userId)
  if (device !== null) return [{ name: `device ${device}`, ...ofAccount }]
  return [
    { name: `address ${network(request.ip)}`, ...ofAddress },
    // By its id, however the e-mail is written: the database decides which letters are the same.
    { name: `account ${userId ?? email.toLowerCase()}`, ...ofAccount },
  ]
}

/** From now on this browser is one that the account has signed in from. */
export function rememberDevice(
  { devices, publicUrl }: SignInContext,
  request: FastifyRequest,
  reply: FastifyReply,
  userId: string,
): void {
  const known = readCookie(request.headers.cookie, 'device', publicUrl())
  if (known !== undefined && openDevice(devices, known, userId) !== null) return
  const value = devices.seal(randomBytes(16).toString('base64url'), userId).toString('base64url')
  writeCookie(reply, 'device', publicUrl(), { value, days: deviceDays })
}

/**
 * Checks a password, as often as the allowances let it be tried: only what was wrong counts.
 *
 * @param phc null: nothing is right, for the same work
 * @throws ServiceError `rate_limited`, with `retry-after`
 */
export async function checkPassword(
  { database, passwords }: SignInContext,
  reply: FastifyReply,
  { password, phc, allowances }: { password: string; phc: string | null; allowances: Allowance[] },
): Promise<PasswordCheck> {
  requireAllowed(reply, await database.asSystem((tx) => takeAttempt(tx, allowances)))
  let isWrong = false
  try {
    const check = await passwords.check(password, phc)
    isWrong = !check.isRight
    return check
  } finally {
    if (!isWrong) await database.asSystem((tx) => giveBackAttempt(tx, allowances))
  }
}

function requireAllowed(reply: FastifyReply, waitSeconds: number): void {
  if (waitSeconds === 0) return
  reply.header('retry-after', waitSeconds)
  throw new ServiceError(
    'rate_limited',
    `Too many attempts to sign in. Try again in ${waitSeconds} ${waitSeconds === 1 ? 'second' : 'seconds'}.`,
  )
}

function openDevice(devices: SignInContext['devices'], cookie: string, userId: string): string | null {
  try {
    return devices.open(Buffer.from(cookie, 'base64url'), userId)
  } catch {
    return null
  }
}
