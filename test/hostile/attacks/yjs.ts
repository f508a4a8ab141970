/** Attacks with updates that cost more to integrate than to send. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Attack } from '../attack.ts'
import { authFrame, connect } from '../../support/raw-client.ts'
import type { Attempt, EditorSocket, Method } from '../attempt.ts'
import { stateVectorFrame } from './frames.ts'
import {
  ascendingInOne,
  ascendingRightOrigins,
  cardsAndDeletion,
  deleteBomb,
  deletesOfStrangers,
  edited,
  emptyMaps,
  manyClients,
  manySiblings,
  nested,
  richCard,
  rivalSets,
  stateVector,
  texts,
} from './updates.ts'

const taken = ['acknowledged']

const update = (
  name: string,
  sends: string,
  make: (attempt: Attempt) => Uint8Array[],
  more: Partial<Attack> = {},
): Attack => ({
  name,
  point: 3,
  sends,
  expects: taken,
  leavesData: true,
  async prepare(attempt) {
    const updates = make(attempt)
    const socket = await attempt.enter()
    return () => attempt.updates(socket, updates)
  },
  ...more,
})

const deletion = (
  name: string,
  sends: string,
  make: (attempt: Attempt) => { cards: Uint8Array; deletion: Uint8Array },
): Attack => ({
  name,
  point: 3,
  sends,
  expects: taken,
  leavesData: true,
  async prepare(attempt) {
    const made = make(attempt)
    const socket = await attempt.enter()
    await attempt.updates(socket, [made.cards])
    return () => attempt.updates(socket, [made.deletion])
  },
})

export const yjsAttacks: Attack[] = [
  update('yjs-40k', 'a 40 KB update of ascending right origins', () => [ascendingInOne(40_000)], {
    short: true,
  }),
  update('yjs-64k', 'the same of 64 KB', () => [ascendingInOne(64_000)]),
  update('yjs-1m', 'the same of 1 MB', () => [ascendingInOne(1_000_000)]),
  update('yjs-frames', 'the same of 64 KB, in 64 frames', () => {
    const { base, parts } = ascendingRightOrigins(64_000)
    return [base, ...parts(64)]
  }),
  update('yjs-siblings', '8,000 clients that each insert at the same place', () => [
    manySiblings(8_000, { descending: false }),
  ]),
  update('yjs-siblings-back', 'the same, in the order that costs most', () => [
    manySiblings(8_000, { descending: true }),
  ]),
  update('yjs-deletes', 'a text of 400,000 characters, every second one deleted', (attempt) => [
    deleteBomb(attempt.size(400_000, 100_000)),
  ]),
  {
    name: 'yjs-stranger-deletes',
    point: 3,
    sends: 'deletes of 300,000 unknown clients',
    // An update that builds on missing edits waits for them, without an acknowledgement.
    expects: ['open'],
    leavesData: true,
    async prepare(attempt) {
      const deletes = deletesOfStrangers(attempt.size(300_000, 50_000))
      const socket = await attempt.enter()
      return async () => {
        socket.update(deletes)
        await delay(attempt.size(10_000, 3000))
        attempt.stillThere(socket)
      }
    },
  },
  update('yjs-nesting', 'maps 190 deep, 2,000 times', (attempt) => [nested(190, attempt.size(2_000, 200))]),
  update('yjs-rivals', 'one key that 40,000 clients set', (attempt) => [
    rivalSets(attempt.size(40_000, 10_000)),
  ]),
  {
    name: 'yjs-clients',
    point: 3,
    sends: '300 small edits and 100 cards, on a board with 45,000 clients',
    expects: [...taken, '201'],
    leavesData: true,
    async prepare(attempt) {
      const socket = await attempt.enter()
      await attempt.updates(socket, [manyClients(attempt.size(45_000, 10_000))])
      const edits = edited(attempt.size(300, 50))
      return async () => {
        const before = socket.acknowledgements.length
        for (const edit of edits) {
          socket.update(edit)
          await delay(20)
        }
        await attempt.times(attempt.size(100, 20), () =>
          attempt.send('POST', `/boards/${attempt.boardId}/cards`, JSON.stringify({ kind: 'note' })),
        )
        await attempt.acknowledged(socket, before + edits.length)
      }
    },
  },
  deletion('yjs-delete-all', '12 bytes that delete 30,000 cards', (attempt) =>
    cardsAndDeletion(attempt.size(30_000, 5000)),
  ),
  {
    name: 'yjs-rich-card',
    point: 3,
    sends:
      'a card with a rich text of 100,000 nodes, which goes to another board, is removed and restored, 4 times',
    expects: ['200', '201'],
    leavesData: true,
    async prepare(attempt) {
      const { id, cards: card } = richCard(attempt.size(100_000, 30_000))
      const [here, there] = [attempt.boardId, await attempt.newBoard()]
      const socket = await attempt.enter()
      await attempt.updates(socket, [card])
      const send = async (method: Method, path: string, body: object | null = null) => {
        const { text } = await attempt.send(method, path, body && JSON.stringify(body))
        return JSON.parse(text || '{}') as any
      }
      return async () => {
        let [at, card_id] = [here, id]
        for (let n = 0; n < 4; n++) {
          const to = at === here ? there : here
          await send('POST', `/boards/${at}/cards/move`, { to_board_id: to, card_ids: [card_id] })
          at = to
          await send('GET', `/boards/${at}/cards?include=raw`)
          const { cards } = await send('GET', `/boards/${at}/cards`)
          const removed = await send('DELETE', `/boards/${at}/cards/${cards[0].id}`)
          card_id = (await send('POST', `/boards/${at}/cards`, removed.card)).cards[0].id
        }
      }
    },
  },
  deletion(
    'yjs-rich-card-deleted',
    'a few bytes that delete a card with a rich text of 300,000 nodes',
    (attempt) => richCard(attempt.size(300_000, 30_000)),
  ),
  update('yjs-8m', 'one update of 8 MB', () => [deleteBomb(2_600_000)]),
  update('yjs-maps', '4 million empty maps', (attempt) => emptyMaps(attempt.size(40, 2), 100_000), {
    expects: [...taken, 'close 1013 the open boards of this account take too much memory'],
  }),
  {
    name: 'yjs-maps-boards',
    point: 3,
    sends: '16 boards with 200,000 empty maps each, which are all open while their past is read',
    expects: [
      '200',
      '503',
      'open',
      'close 1013 try again later',
      'close 1013 the open boards of this account take too much memory',
    ],
    leavesData: true,
    async prepare(attempt) {
      const updates = emptyMaps(2, attempt.size(100_000, 10_000))
      const boards = await Promise.all(Array.from({ length: 16 }, (_, n) => attempt.newBoard(`Maps ${n}`)))
      return async () => {
        const sockets = []
        for (const boardId of boards) {
          const socket = await attempt.enter(undefined, boardId)
          for (const update of updates) socket.update(update)
          sockets.push(socket)
        }
        const pasts = boards.map((id) => `/boards/${id}/cards?as_of=${new Date().toISOString()}`)
        await attempt.times(2 * boards.length, (n) => attempt.send('GET', pasts[n % boards.length]!))
        for (const socket of sockets) attempt.stillThere(socket)
      }
    },
  },
  {
    name: 'yjs-large-boards',
    point: 3,
    sends: '24 boards of 12 MB of text, which are opened together',
    expects: [
      'open',
      'close 1013 try again later',
      'close 1013 the open boards of this account take too much memory',
    ],
    leavesData: true,
    async prepare(attempt) {
      const count = attempt.size(24, 2)
      const boards = await Promise.all(
        Array.from({ length: count }, (_, n) => attempt.newBoard(`Large ${n}`)),
      )
      const updates = texts(2, 6_000_000)
      for (const boardId of boards) {
        const socket = await attempt.enter(undefined, boardId)
        await attempt.updates(socket, updates)
        socket.socket.terminate()
      }
      return async () => {
        const sockets = await Promise.all(boards.map(() => connect(attempt.scene.url)))
        for (const [n, socket] of sockets.entries()) {
          attempt.deafen(socket as EditorSocket)
          socket.send(authFrame(boards[n]!, attempt.scene.attacker.tokens[0]!))
        }
        await delay(10_000)
        for (const socket of sockets) attempt.stillThere(socket as EditorSocket)
      }
    },
  },
  {
    name: 'yjs-load',
    point: 3,
    sends: 'a 40 KB update of ascending right origins, then the board is opened again 10 times',
    expects: [...taken, '200', 'open'],
    leavesData: true,
    async prepare(attempt) {
      const updates = [ascendingInOne(40_000)]
      const first = await attempt.enter()
      return async () => {
        await attempt.updates(first, updates)
        first.socket.terminate()
        await attempt.times(10, () => attempt.send('GET', `/boards/${attempt.boardId}/cards?include=raw`), 2)
      }
    },
  },
  {
    name: 'yjs-state-vectors',
    point: 3,
    sends: '40 questions for the board with state vectors of 300,000 clients',
    expects: ['open'],
    async prepare(attempt) {
      const vector = stateVector(attempt.size(300_000, 50_000))
      const socket = await attempt.enter()
      const frame = stateVectorFrame(socket.address, vector)
      return async () => {
        for (let n = 0; n < 40 && !socket.closed; n++) socket.send(frame)
        await attempt.drained(socket)
        attempt.stillThere(socket)
      }
    },
  },
]
