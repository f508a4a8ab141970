/**
 * Limits how often a password may be tried. An unknown browser has two limits: one for its address, and one for the
 * account, also if there is no such account. A browser in which the account has signed in before has its own limit instead
 * (OWASP's device cookies), so a stranger's attempts can't lock people out of it. In another browser people wait at most
 * 90 seconds after the stranger's last attempt, or use a one-time link, which has no limit.
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

/** The limits for a sign-in. @param userId null: there is no such account */
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
    // The id is the same for all spellings of the e-mail that the database treats as equal.
    { name: `account ${userId ?? email.toLowerCase()}`, ...ofAccount },
  ]
}

/** Sets the cookie that marks this browser as one in which the account has signed in. */
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
 * Checks a password within the limits. Only a wrong password counts.
 *
 * @param phc the stored hash. Null: no password is right, but the check takes as long
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
    `Too many wrong passwords. Try again in ${waitSeconds} ${waitSeconds === 1 ? 'second' : 'seconds'}.`,
  )
}

function openDevice(devices: SignInContext['devices'], cookie: string, userId: string): string | null {
  try {
    return devices.open(Buffer.from(cookie, 'base64url'), userId)
  } catch {
    return null
  }
}
