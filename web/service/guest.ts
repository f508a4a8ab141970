/** Opens a guest link. It needs no account: the answer has a token for the one board. */
import { Refused } from './api.ts'
import { beGuest } from './token.ts'
import { inWords } from './unreachable.ts'

interface Given {
  /** The token of the link. */
  token: string
  name: string
  password?: string
}

/** From then on all requests are those of the guest. @returns the board. @throws Refused, with the service's own words */
export async function openGuestLink(given: Given): Promise<string> {
  const answer = await fetch('/api/v1/links/open', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(given),
  }).catch(inWords)
  const body = (await answer.json()) as { error?: string; access_token: string; board_id: string }
  if (!answer.ok) throw new Refused(answer.status, body.error ?? `The service answered ${answer.status}.`)
  beGuest(body.access_token)
  return body.board_id
}
