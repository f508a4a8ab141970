import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { revokeToken } from '../../sql/accounts/tokens.ts'
import { until } from '../support/editor.ts'
import { authFrame, connect, enter, type RawClient } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({
  bounds: { maxSocketsPerBoard: 20, maxSocketsPerAccountOnBoard: 7 },
})

afterEach(() => everybodyGone(service))

async function boardWithViewers(count: number) {
  const boardId: string = (await user.api.post('/boards', { name: 'Seats' })).body.board.id
  const viewers = await Promise.all(Array.from({ length: count }, () => service.user()))
  for (const viewer of viewers) await service.share(boardId, viewer, 'viewer')
  return { boardId, viewers }
}

/** One socket that opens the board as often as it may, under names of sessions. */
async function openOften(boardId: string, token: string, times: number): Promise<RawClient> {
  const client = await connect(service.url)
  for (let n = 0; n < times; n++) client.send(authFrame(`${boardId}\0s${n}`, token))
  return client
}

async function refusal(boardId: string, token: string, url = service.url): Promise<string> {
  const client = await connect(url)
  client.send(authFrame(boardId, token))
  await until(() => client.denials.length > 0 || client.closed !== null, 'it is refused')
  return client.denials[0] ?? `closed: ${client.closed!.reason}`
}

test('[X74] one account has a bounded number of a board’s places, on however many sockets', async () => {
  const { boardId, viewers } = await boardWithViewers(2)
  for (let n = 0; n < 7; n++)
    await enter(service.url, { boardId, token: viewers[0]!.token, session: `s${n}` })
  expect(await refusal(boardId, viewers[0]!.token)).toBe('try-later')
  const often = await openOften(boardId, viewers[1]!.token, 12)
  await until(() => often.denials.length > 0 || often.closed !== null, 'some are refused')
  for (const reason of often.denials) expect(reason).toBe('try-later')
  expect(service.counts().connections).toBeLessThanOrEqual(14)
  await enter(service.url, { boardId, token: user.token })
})

test('[X75] a tenth of a board’s places is kept for those who may write', async () => {
  const { boardId, viewers } = await boardWithViewers(3)
  for (const [at, viewer] of viewers.entries())
    for (let n = 0; n < (at < 2 ? 7 : 4); n++) await enter(service.url, { boardId, token: viewer.token })
  expect(service.counts().connections).toBe(18)
  expect(await refusal(boardId, viewers[2]!.token)).toBe('try-later')
  for (let n = 0; n < 2; n++) await enter(service.url, { boardId, token: user.token })
  expect(await refusal(boardId, user.token)).toBe('try-later')
})

test('[R20] a refusal says whether the token is wrong, the board is not there, or there is no place', async () => {
  const { boardId } = await boardWithViewers(0)
  const stranger = await service.user()
  const revoked = await service.token(user, {})
  await service.database.asSystem((tx) => revokeToken(tx, revoked.tokenId))
  expect(await refusal(boardId, 'no-token')).toBe('token-invalid')
  expect(await refusal(boardId, '')).toBe('token-invalid')
  expect(await refusal(boardId, revoked.token)).toBe('token-invalid')
  expect(await refusal(randomUUID(), 'no-token')).toBe('token-invalid')
  expect(await refusal(boardId, stranger.token)).toBe('permission-denied')
  expect(await refusal(randomUUID(), user.token)).toBe('permission-denied')
  const { url } = service // each node has places of its own
  for (let n = 0; n < 7; n++) await enter(url, { boardId, token: user.token })
  expect(await refusal(boardId, user.token, url)).toBe('try-later')
})
