/**
 * Starts a new session at each sign-in, so that a cookie planted in the browser before is worthless (session fixation).
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Transaction } from '../../sql/database.ts'
import { recordFor } from '../../sql/requests/audit.ts'
import { endSessionOf, startSession } from '../../sql/accounts/sessions.ts'
import { rememberDevice } from './attempts.ts'
import type { SignInContext } from './context.ts'
import { writeCookie } from './cookies.ts'
import { formOperation } from './operation.ts'

/**
 * Starts the session. Call it in the transaction that has checked the password or link.
 *
 * @returns the secret for `letIn`
 */
export async function begin(
  { sessions }: SignInContext,
  tx: Transaction,
  request: FastifyRequest,
  account: { userId: string; name: string | null },
): Promise<string> {
  const before = sessions.secretOf(request)
  if (before !== null) await endSessionOf(tx, before)
  const userAgent = request.headers['user-agent']?.slice(0, 300) ?? null
  const { userId } = account
  const { secret, sessionId } = await startSession(tx, { userId, ip: request.ip, userAgent })
  const operation = formOperation(request, account, 'session.create', sessionId)
  await recordFor(tx, userId, operation)
  return secret
}

/** Sets the cookies of the new session. Call it after the transaction has committed. */
export function letIn(
  context: SignInContext,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  userId: string,
  secret: string,
): void {
  context.sessions.give(reply, secret)
  rememberDevice(context, request, reply, userId)
  writeCookie(reply, 'form', context.publicUrl(), { value: '', days: 0 })
}
