/** Attacks on the streams of events, and on the live lists. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Socket } from 'node:net'
import * as encoding from 'lib0/encoding'
import {
  authFrame,
  connect,
  frame,
  syncFrame,
  type as frameType,
  type RawClient,
} from '../../support/raw-client.ts'
import type { Attack } from '../attack.ts'
import { answerTimeoutMs, describeAnswer, noAnswer, type Attempt } from '../attempt.ts'

/** A state vector of an empty document. */
const nothing = Uint8Array.of(0)
const longAgo = () => `${Date.now() - 6 * 86_400_000}-0`

/** Opens a stream, counts its status, and reads nothing after the head. */
async function openStream(
  attempt: Attempt,
  n: number,
  { query = '', lastEventId = '' }: { query?: string; lastEventId?: string } = {},
): Promise<Socket> {
  const { tokens } = attempt.scene.attacker
  const socket = await attempt.raw()
  const last = lastEventId === '' ? '' : `last-event-id: ${lastEventId}\r\n`
  socket.write(
    `GET /api/v1/events${query} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${tokens[n % tokens.length]}\r\n${last}\r\n`,
  )
  const answered = once(socket, 'data').then(
    ([bytes]) => (bytes as Buffer).toString('latin1'),
    () => '',
  )
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve('')))
  const text = await Promise.race([answered, closed, delay(answerTimeoutMs, null)])
  const [head = '', body = ''] = (text ?? '').split('\r\n\r\n')
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0)
  if (status > 0) attempt.answered(describeAnswer(status, body, /retry-after/i.exec(head)?.[0]))
  else attempt.answered(text === null ? noAnswer : 'no answer: closed')
  socket.pause()
  return socket
}

/** Renames the board, so that there are events. */
const rename = (attempt: Attempt, count: number) =>
  attempt.times(
    count,
    (n) => attempt.send('PATCH', `/boards/${attempt.boardId}`, JSON.stringify({ name: `${n} `.repeat(40) })),
    10,
  )

const resumeFrame = (address: string, id: string) =>
  frame(address, frameType.stateless, (encoder) =>
    encoding.writeVarString(encoder, JSON.stringify({ type: 'resume', id })),
  )

/** Sockets that nobody has authenticated yet are bounded by address. The tenant comes from another one. */
const ownAddress = '127.0.0.13'

function openLists(attempt: Attempt, client: RawClient, count: number): void {
  const { tokens } = attempt.scene.attacker
  for (let n = 0; n < count; n++) {
    const address = `account\0${n}`
    for (const one of [
      authFrame(address, tokens[n % tokens.length]!),
      syncFrame(address, 0, nothing),
      resumeFrame(address, longAgo()),
    ])
      client.send(one)
  }
}

/** Counts a socket as open, or as closed with its code. */
const stillThere = (attempt: Attempt, { closed, denials }: RawClient) => {
  for (const reason of denials) attempt.answered(`denied: ${reason}`)
  attempt.answered(closed ? `close ${closed.code} ${closed.reason}`.trimEnd() : 'open')
}

export const listAttacks: Attack[] = [
  {
    name: 'unread-streams',
    point: 11,
    sends: '20 streams of events from six days ago that are never read, and 300 events',
    expects: ['200', '201'],
    async prepare(attempt) {
      await rename(attempt, attempt.size(300, 100))
      return async () => {
        const streams = await Promise.all(
          Array.from({ length: 20 }, (_, n) => openStream(attempt, n, { lastEventId: longAgo() })),
        )
        await rename(attempt, attempt.size(300, 100))
        for (const socket of streams) socket.destroy()
      }
    },
  },
  {
    name: 'stream-reconnects',
    point: 13,
    sends: '10,000 streams of events from six days ago, each cut off after its first bytes',
    expects: ['200'],
    async prepare(attempt) {
      await rename(attempt, attempt.size(300, 100))
      return () =>
        attempt.times(
          attempt.size(10_000, 1000),
          async (n) => (await openStream(attempt, n, { lastEventId: longAgo() })).destroy(),
          15,
        )
    },
  },
  {
    name: 'stream-ids',
    point: 13,
    sends: '1,000 streams with a Last-Event-ID of 12 KB, of zeros, or of the year 33658',
    expects: ['200', '431'],
    async prepare(attempt) {
      const ids = ['9'.repeat(12_000), `${'0'.repeat(15)}-${'0'.repeat(15)}`, '999999999999999-1', '-1-1']
      return () =>
        attempt.times(
          1000,
          async (n) => (await openStream(attempt, n, { lastEventId: ids[n % ids.length]! })).destroy(),
          15,
        )
    },
  },
  {
    name: 'stream-filters',
    point: 13,
    sends: '200 streams of 10,000 boards, 40,000 types, or as many as a URL holds',
    expects: ['200', '414', '431', 'no answer: closed'],
    async prepare(attempt) {
      const many = (name: string, value: () => string, count: number) =>
        Array.from({ length: count }, () => `${name}=${value()}`).join('&')
      const queries = [
        many('board', randomUUID, 10_000),
        many('board', () => attempt.boardId, 250),
        `type=${Array.from({ length: 1000 }, () => 'card.created').join()}`,
        many('type', () => 'card.created', 500),
      ]
      return () =>
        attempt.times(
          200,
          async (n) => (await openStream(attempt, n, { query: `?${queries[n % queries.length]}` })).destroy(),
          10,
        )
    },
  },
  {
    name: 'unread-lists',
    point: 8,
    sends:
      '10 sockets with 100 live lists each, which resume from six days ago and are never read, and 300 events',
    expects: ['200', 'open'],
    short: true,
    async prepare(attempt) {
      await rename(attempt, attempt.size(300, 100))
      const clients = await Promise.all(
        Array.from({ length: attempt.size(10, 4) }, () => connect(attempt.scene.url)),
      )
      return async () => {
        for (const client of clients) {
          openLists(attempt, client, 100)
          client.socket.pause()
        }
        await rename(attempt, attempt.size(300, 100))
        for (const client of clients) {
          client.socket.resume()
          stillThere(attempt, client)
          client.socket.terminate()
        }
      }
    },
  },
  {
    name: 'list-reconnects',
    point: 8,
    sends: '2,000 sockets in turn, each with 20 live lists that resume from six days ago',
    expects: ['open'],
    async prepare(attempt) {
      await rename(attempt, attempt.size(300, 100))
      return () =>
        attempt.times(
          2000,
          async () => {
            const client = await connect(attempt.scene.url, '/collab', ownAddress)
            openLists(attempt, client, 20)
            await delay(20)
            stillThere(attempt, client)
            client.socket.terminate()
          },
          10,
        )
    },
  },
]
