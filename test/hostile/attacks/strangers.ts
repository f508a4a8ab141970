/** Attacks by clients without an account, by clients that send slowly, and by clients that do not read. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import * as Y from 'yjs'
import { makeToken } from '../../../sql/accounts/tokens.ts'
import type { Socket } from 'node:net'
import { authFrame, connect, syncFrame } from '../../support/raw-client.ts'
import type { Attack } from '../attack.ts'
import { answerTimeoutMs, describeAnswer, noAnswer, type Attempt, type EditorSocket } from '../attempt.ts'
import { stateVectorFrame } from './frames.ts'

const holdMs = 6000

/** Returns the status of an HTTP answer on a raw connection, or how the connection was closed. */
async function listen(attempt: Attempt, socket: Socket): Promise<void> {
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  // Not with `once`, because a client that is disconnected while writing gets an error first.
  const closed = new Promise((resolve) => socket.once('close', resolve))
  if (!socket.destroyed) await Promise.race([closed, delay(answerTimeoutMs)])
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0)
  if (status === 101)
    attempt.answered(closeOf(Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1')))
  else if (status > 0) attempt.answered(describeAnswer(status, body, /retry-after/i.exec(head)?.[0]))
  else attempt.answered(socket.destroyed ? 'no answer: closed' : noAnswer)
}

/** Returns the code and reason of the first close frame. */
function closeOf(bytes: Buffer): string {
  const at = bytes.indexOf(0x88)
  const length = at < 0 ? 0 : (bytes[at + 1] ?? 0)
  if (length < 2) return 'close 1006'
  return `close ${bytes.readUInt16BE(at + 2)} ${bytes.subarray(at + 4, at + 2 + length).toString()}`
}

const upgrade = (attempt: Attempt, path = '/collab') =>
  `GET ${path} HTTP/1.1\r\nhost: ${new URL(attempt.scene.url).host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
  `sec-websocket-version: 13\r\nsec-websocket-key: ${randomBytes(16).toString('base64')}\r\n\r\n`

/** The head of a masked binary frame of 8 MB. */
const largeFrame = Buffer.concat([Buffer.from([0x82, 0xff]), u64(8 * 1024 * 1024 - 100), Buffer.alloc(4)])

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

const unfinishedFrames = (name: string, sends: string, path: string, more: Partial<Attack> = {}): Attack => ({
  name,
  point: 11,
  sends,
  expects: ['429', '503'],
  async prepare(attempt) {
    const count = attempt.size(80, 60)
    const bytes = Buffer.alloc(7_900_000, 1)
    const sockets = await Promise.all(Array.from({ length: count }, () => attempt.raw()))
    return () =>
      Promise.all(
        sockets.map(async (socket) => {
          const heard = listen(attempt, socket)
          socket.write(upgrade(attempt, path))
          // A client that is disconnected while writing gets an error, with which `once` rejects.
          await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => undefined)
          socket.write(largeFrame)
          socket.write(bytes)
          await heard
        }),
      )
  },
  ...more,
})

/** Each socket asks again and again, as a client that comes back with a little of a large board. */
const joinsSince = (name: string, sends: string, reads: boolean): Attack[] => [
  {
    name,
    point: 11,
    sends,
    // The close frame of a slow reader would wait behind what it has not read.
    expects: ['open', ...(reads ? [] : ['close 1006'])],
    async prepare(attempt) {
      await attempt.editorCards(400, (n) => ({ body: `${n} `.repeat(4000).slice(0, 19_000) }))
      const first = await attempt.enter()
      const [client = 0] = first.documentOf(first.address).store.clients.keys()
      const vector = Uint8Array.from(Y.encodeStateVector(new Map([[client, 1]])))
      const sockets = await Promise.all(
        Array.from({ length: 60 }, async () => {
          const socket = await connect(attempt.scene.url)
          socket.socket.removeAllListeners('message')
          socket.send(authFrame(attempt.boardId, attempt.scene.attacker.tokens[0]!))
          return socket
        }),
      )
      return async () => {
        const question = stateVectorFrame(attempt.boardId, vector)
        for (const { socket } of sockets) if (!reads) socket.pause()
        const endMs = performance.now() + holdMs
        while (performance.now() < endMs) {
          for (const socket of sockets) if (socket.socket.bufferedAmount < 10_000) socket.send(question)
          await delay(100)
        }
        for (const socket of sockets) attempt.stillThere(socket as EditorSocket)
      }
    },
  },
]

export const strangerAttacks: Attack[] = [
  {
    name: 'random-tokens',
    point: 11,
    sends: '5,000 requests with well-formed tokens at random',
    expects: ['401'],
    short: true,
    async prepare(attempt) {
      const count = attempt.size(5000, 2000)
      const tokens = Array.from({ length: count }, makeToken)
      return () => attempt.times(count, (n) => attempt.send('GET', '/me', null, { token: tokens[n]! }), 40)
    },
  },
  unfinishedFrames(
    'unfinished-frames',
    '80 sockets that do not authenticate, each with 8 MB of a frame that does not end',
    '/collab',
    { short: true },
  ),
  unfinishedFrames('past-strangers', 'the same 80 sockets, at a past moment', '/collab?as_of=1'),
  {
    name: 'silent-sockets',
    point: 11,
    sends: '900 sockets on which nothing is said',
    expects: ['429', '503'],
    async prepare(attempt) {
      return () =>
        attempt.times(
          900,
          async () => {
            const socket = await attempt.raw()
            const heard = listen(attempt, socket)
            socket.write(upgrade(attempt))
            await heard
          },
          900,
        )
    },
  },
  {
    name: 'slow-bodies',
    point: 11,
    sends: '100 bodies of 60 MB of which 5 MB come, then a byte a second',
    expects: ['408'],
    async prepare(attempt) {
      const [token] = attempt.scene.attacker.tokens
      const head =
        `POST /api/v1/boards/${attempt.boardId}/cards HTTP/1.1\r\nhost: ${new URL(attempt.scene.url).host}\r\n` +
        `authorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: 60000000\r\n\r\n`
      const bytes = Buffer.alloc(5_000_000, ' ')
      const sockets = await Promise.all(Array.from({ length: attempt.size(100, 40) }, () => attempt.raw()))
      return async () => {
        for (const socket of sockets) {
          socket.write(head)
          socket.write(bytes)
        }
        const endMs = performance.now() + holdMs
        while (performance.now() < endMs) {
          for (const socket of sockets) if (socket.writable) socket.write(' ')
          await delay(1000)
        }
        // Half a body gets no answer. Only its cost is measured.
        for (const socket of sockets) socket.destroy()
      }
    },
  },
  {
    name: 'slow-readers',
    point: 11,
    sends: '60 exports of a board of 8 MB that nobody reads',
    expects: ['200'],
    async prepare(attempt) {
      await attempt.editorCards(400, (n) => ({ body: `${n} `.repeat(4000).slice(0, 19_000) }))
      const { tokens } = attempt.scene.attacker
      const sockets = await Promise.all(Array.from({ length: 60 }, () => attempt.raw()))
      return async () => {
        sockets.forEach((socket, at) => {
          socket.pause()
          socket.write(
            `GET /api/v1/boards/${attempt.boardId}/export HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${tokens[at % tokens.length]}\r\n\r\n`,
          )
        })
        await delay(holdMs)
        for (const socket of sockets) socket.destroy()
      }
    },
  },
  {
    name: 'joins-unread',
    point: 11,
    sends: '60 sockets that open a board of 8 MB and do not read',
    expects: ['open'],
    async prepare(attempt) {
      await attempt.editorCards(400, (n) => ({ body: `${n} `.repeat(4000).slice(0, 19_000) }))
      return async () => {
        const entered = await Promise.allSettled(
          Array.from({ length: 60 }, async () => {
            const socket = await attempt.enter()
            socket.socket.pause()
            return socket
          }),
        )
        await delay(holdMs)
        for (const one of entered) {
          if (one.status === 'fulfilled') attempt.stillThere(one.value)
          else attempt.answered('no answer: the board did not open in 10 s')
        }
      }
    },
  },
  ...joinsSince('joins-since', '60 sockets ask for a board of 8 MB of which they know one clock', true),
  ...joinsSince('joins-since-unread', 'the same, and nobody reads the answers', false),
  {
    name: 'past-unread',
    point: 11,
    sends: '20 sockets that each ask 40 times for past states of a board of 8 MB, and do not read',
    expects: ['open'],
    async prepare(attempt) {
      const { boardId, scene } = attempt
      await attempt.editorCards(400, (n) => ({ body: `${n} `.repeat(4000).slice(0, 19_000) }))
      const { version } = await attempt.make('POST', `/boards/${boardId}/versions`, { name: 'Large' })
      const path = `/collab?as_of=${version.id}`
      const sockets = await Promise.all(Array.from({ length: 20 }, () => connect(scene.url, path)))
      const vector = Y.encodeStateVector(new Y.Doc())
      return async () => {
        for (const client of sockets) {
          client.socket.pause()
          for (let n = 0; n < 10; n++) client.send(authFrame(`${boardId}\0s${n}`, scene.attacker.tokens[0]!))
          for (let n = 0; n < 40; n++) client.send(syncFrame(`${boardId}\0s${n % 10}`, 0, vector))
        }
        await delay(2 * holdMs)
        for (const client of sockets) attempt.stillThere(client as EditorSocket)
      }
    },
  },
  {
    name: 'half-requests',
    point: 11,
    sends: '500 connections with half of a request head',
    expects: ['408', '400'],
    async prepare(attempt) {
      return async () => {
        const sockets = await Promise.all(Array.from({ length: 500 }, () => attempt.raw()))
        for (const socket of sockets) socket.write(`GET /api/v1/me HTTP/1.1\r\nx-filler: ${'x'.repeat(8000)}`)
        await delay(holdMs)
        for (const socket of sockets) socket.destroy()
      }
    },
  },
  {
    name: 'sign-in-guesses',
    point: 11,
    sends: '200 wrong passwords, 10 at once',
    expects: ['422', '429'],
    async prepare(attempt) {
      const page = await fetch(`${attempt.scene.url}/login`)
      const csrf = /name="csrf" value="([^"]+)"/.exec(await page.text())?.[1]
      if (!csrf) throw new Error('the sign-in page has no form')
      const cookie = page.headers
        .getSetCookie()
        .map((one) => one.split(';')[0])
        .join('; ')
      const form = new URLSearchParams({
        csrf,
        email: 'tenant@example.test',
        password: 'wrong password here',
      }).toString()
      return () =>
        attempt.times(
          200,
          async () => {
            const answer = await fetch(`${attempt.scene.url}/login`, {
              method: 'POST',
              headers: {
                'content-type': 'application/x-www-form-urlencoded',
                origin: attempt.scene.url,
                cookie,
              },
              body: form,
              redirect: 'manual',
            })
            await answer.text()
            attempt.answered(String(answer.status))
          },
          10,
        )
    },
  },
]
