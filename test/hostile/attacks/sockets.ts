/** Attacks with floods on open sockets, and with many seats. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Attack } from '../attack.ts'
import type { Attempt, EditorSocket } from '../attempt.ts'
import {
  authFrame,
  awarenessFrame,
  connect,
  frame,
  syncFrame,
  type as frameType,
  updateFrame,
} from '../../support/raw-client.ts'
import * as Y from 'yjs'
import { brokenStateFrame, pingFrame, queryFrame, stateFrame, stateVectorFrame } from './frames.ts'

const floodMs = 6000

/** Each socket sends its frames as fast as possible for some seconds. */
async function flood(
  attempt: Attempt,
  sockets: EditorSocket[],
  frames: (at: number) => (turn: number) => Uint8Array,
): Promise<void> {
  const endMs = performance.now() + attempt.size(floodMs, 3000)
  await Promise.all(
    sockets.map(async (socket, at) => {
      attempt.deafen(socket)
      const frame = frames(at)
      for (let turn = 1; performance.now() < endMs && !socket.closed; turn++) {
        if (socket.socket.bufferedAmount < 200_000) socket.send(frame(turn))
        if (turn % 10 === 0) await delay(2)
      }
      attempt.stillThere(socket)
    }),
  )
}

const guests = (attempt: Attempt, count: number) =>
  Promise.all(
    Array.from({ length: count }, () => attempt.enter(attempt.scene.guest.tokens[0], attempt.boardId)),
  )

const flooding = (
  name: string,
  sends: string,
  count: number,
  frames: (at: number, address: string) => (turn: number) => Uint8Array,
  more: Partial<Attack> = {},
): Attack => ({
  name,
  point: 7,
  sends,
  expects: ['open'],
  async prepare(attempt) {
    const sockets = await guests(attempt, count)
    return () => flood(attempt, sockets, (at) => frames(at, sockets[at]!.address))
  },
  ...more,
})

/**
 * A new frame for each send would cost the attacker more than the service. So a few frames are made and sent in turn.
 */
function made(count: number, make: (n: number) => Uint8Array): (turn: number) => Uint8Array {
  const frames = Array.from({ length: count }, (_, n) => make(n + 1))
  return (turn) => frames[turn % count]!
}

/** Updates of about 20 bytes that build on each other. */
function smallUpdates(count: number): Uint8Array[] {
  const document = new Y.Doc()
  const updates: Uint8Array[] = []
  document.on('update', (update: Uint8Array) => updates.push(update))
  for (let n = 0; n < count; n++) document.getMap('junk').set('n', n)
  return updates
}

export const socketAttacks: Attack[] = [
  flooding(
    'awareness-flood',
    '40 sockets of a guest that may only read send states of 10 KB',
    40,
    (at, address) => made(50, (n) => stateFrame(address, at + 1, n, 10_000)),
    { short: true },
  ),
  flooding('awareness-small', '40 such sockets send states of 50 bytes', 40, (at, address) =>
    made(500, (n) => stateFrame(address, at + 1, n, 20)),
  ),
  flooding('awareness-clients', '40 such sockets send a new client with each frame', 40, (at, address) =>
    made(500, (n) => stateFrame(address, at * 10_000 + n, 1, 100)),
  ),
  flooding('awareness-many', 'states of 4,000 clients in each frame', 10, (at, address) =>
    made(5, (n) =>
      awarenessFrame(
        address,
        Array.from({ length: 4000 }, (_, client) => ({ client: at * 5000 + client, clock: n, state: '{}' })),
      ),
    ),
  ),
  flooding('awareness-broken', 'states that are no UTF-8', 20, (at, address) =>
    made(100, (n) => brokenStateFrame(address, at + 1, n)),
  ),
  flooding('query-flood', '20 sockets ask for the board and for awareness', 20, (_at, address) => {
    const frames = [stateVectorFrame(address, Y.encodeStateVector(new Y.Doc())), queryFrame(address)]
    return (turn) => frames[turn % 2]!
  }),
  flooding('ping-flood', '20 sockets send pings', 20, (_at, address) => made(1, () => pingFrame(address))),
  {
    name: 'websocket-pings',
    point: 7,
    sends: '20 sockets send pings of the WebSocket protocol',
    expects: ['open'],
    async prepare(attempt) {
      const sockets = await guests(attempt, 20)
      return async () => {
        const endMs = performance.now() + floodMs
        await Promise.all(
          sockets.map(async (socket) => {
            const bytes = Buffer.alloc(100)
            while (performance.now() < endMs && !socket.closed) {
              for (let n = 0; n < 50 && socket.socket.bufferedAmount < 100_000; n++) socket.socket.ping(bytes)
              await delay(2)
            }
            attempt.stillThere(socket)
          }),
        )
      }
    },
  },
  {
    name: 'fan-out',
    point: 7,
    sends: '4 boards with 500 reading sockets each, and an update of 20 bytes every 4 ms on each of them',
    expects: ['open'],
    async prepare(attempt) {
      const [token] = attempt.scene.attacker.tokens
      const count = attempt.size(499, 99)
      const boards = await Promise.all([1, 2, 3, 4].map(async (n) => attempt.newBoard(`Crowd ${n}`)))
      const writers = await Promise.all(boards.map((board) => attempt.enter(undefined, board)))
      const updates = writers.map(() => smallUpdates(2000))
      await attempt.times(
        4 * count,
        async (n) => {
          const socket = await connect(attempt.scene.url)
          attempt.deafen(socket as EditorSocket)
          socket.send(authFrame(boards[n % 4]!, token!))
        },
        50,
      )
      await delay(5000)
      return async () => {
        const endMs = performance.now() + attempt.size(floodMs, 3000)
        for (let n = 0; performance.now() < endMs && n < 2000; n++) {
          for (const [at, writer] of writers.entries()) writer.update(updates[at]![n]!)
          await delay(4)
        }
        for (const writer of writers) attempt.stillThere(writer)
      }
    },
  },
  {
    name: 'seats',
    point: 8,
    sends: "a guest takes all seats of the tenant's board with ten sockets",
    expects: ['open'],
    short: true,
    async prepare(attempt) {
      const { guest, tenant } = attempt.scene
      const sockets = await Promise.all(Array.from({ length: 11 }, () => connect(attempt.scene.url)))
      const vector = Y.encodeStateVector(new Y.Doc())
      return async () => {
        await Promise.all(
          sockets.map(async (socket, at) => {
            attempt.hearRefusals(socket)
            for (let n = 0; n < 100; n++) {
              const address = `${tenant.boardId}\0${at}-${n}`
              socket.send(authFrame(address, guest.tokens[0]!))
              socket.send(syncFrame(address, 0, vector))
              if (n % 10 === 0) await delay(20)
            }
          }),
        )
        await delay(attempt.size(floodMs, 3000))
        for (const socket of sockets) attempt.stillThere(socket as EditorSocket)
      }
    },
  },
  {
    name: 'sockets-without-seats',
    point: 8,
    sends: '2,500 sockets that open a board, close it, and send an update for it each second',
    expects: ['open', 'denied'],
    async prepare(attempt) {
      const update = updateFrame(attempt.boardId, new Uint8Array(20))
      return async () => {
        const endMs = performance.now() + attempt.size(2 * floodMs, floodMs)
        const sockets: EditorSocket[] = []
        await attempt.times(
          attempt.size(2500, 500),
          async () => {
            const socket = (await connect(attempt.scene.url)) as EditorSocket
            sockets.push(socket)
            attempt.hearRefusals(socket)
            socket.send(authFrame(attempt.boardId, attempt.scene.attacker.tokens[0]!))
            await delay(20)
            socket.send(frame(attempt.boardId, frameType.close))
          },
          20,
        )
        while (performance.now() < endMs) {
          for (const socket of sockets) socket.send(update)
          await delay(1000)
        }
        for (const socket of sockets) attempt.stillThere(socket)
      }
    },
  },
  {
    name: 'seats-sockets',
    point: 8,
    sends: "a guest opens 300 sockets on the tenant's board and comes back as soon as it is refused",
    expects: ['open', 'refused'],
    async prepare(attempt) {
      const { guest, tenant } = attempt.scene
      return () =>
        attempt.times(
          attempt.size(300, 100),
          async () => {
            try {
              attempt.stillThere(await attempt.enter(guest.tokens[0], tenant.boardId))
            } catch (error) {
              const { message } = error as Error
              attempt.answered(
                message.startsWith('refused: ') ? `denied: ${message.slice(9)}` : 'no seat: ' + message,
              )
            }
          },
          10,
        )
    },
  },
]
