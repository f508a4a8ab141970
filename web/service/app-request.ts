/**
 * Requests to the routes under `/app/`, which do what is reserved to the app. They take the session cookie, and a CSRF
 * token that the service gives to pages of its own origin.
 */
import { Refused } from './api.ts'
import { SignedOut } from './token.ts'
import { inWords } from './unreachable.ts'

/** @throws SignedOut, Refused, Unreachable */
export async function appRequest(path: string): Promise<unknown> {
  const { csrf_token: token } = (await answerOf(fetch('/app/csrf'))) as { csrf_token: string }
  return answerOf(fetch(path, { method: 'POST', headers: { 'x-csrf-token': token } }))
}

async function answerOf(sent: Promise<Response>): Promise<unknown> {
  const answer = await sent.catch(inWords)
  if (answer.status === 401) throw new SignedOut('You are signed out. Sign in again, then try once more.')
  const body = (await answer.json().catch(() => ({}))) as { error?: string }
  if (!answer.ok) throw new Refused(answer.status, body.error ?? `The service answered ${answer.status}.`)
  return body
}
