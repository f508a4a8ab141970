/** Attacks in which hundreds of sockets do the same in one moment. */
import { setTimeout as delay } from 'node:timers/promises'
import * as Y from 'yjs'
import { authFrame, connect, type RawClient } from '../../support/raw-client.ts'
import type { Attack } from '../attack.ts'
import type { Attempt, EditorSocket } from '../attempt.ts'
import { stateFrame, stateVectorFrame } from './frames.ts'

const [many, few] = [499, 99]
const openMs = 5000
const afterMs = 5000

/** Opens a board on hundreds of sockets, each with a cursor. They discard what they read. */
async function crowd(attempt: Attempt, boardId: string): Promise<RawClient[]> {
  const sockets: RawClient[] = []
  await attempt.times(
    attempt.size(many, few),
    async (n) => {
      const socket = await connect(attempt.scene.url)
      attempt.deafen(socket as EditorSocket)
      socket.send(authFrame(boardId, attempt.scene.attacker.tokens[0]!))
      socket.send(stateFrame(boardId, n + 1, 1, 100))
      sockets.push(socket)
    },
    50,
  )
  await delay(openMs)
  return sockets
}

/** Prepares a crowd on each of four boards, and lets it act. */
const crowds = (
  name: string,
  sends: string,
  act: (attempt: Attempt, boards: string[], sockets: RawClient[]) => Promise<unknown>,
): Attack => ({
  name,
  point: 7,
  sends,
  expects: ['open', '200', 'close 4403 ', 'close 1006'],
  async prepare(attempt) {
    const boards = await Promise.all([1, 2, 3, 4].map((n) => attempt.newBoard(`Crowd ${n}`)))
    const sockets: RawClient[] = []
    for (const board of boards) sockets.push(...(await crowd(attempt, board)))
    return async () => {
      await act(attempt, boards, sockets)
      await delay(afterMs)
      for (const socket of sockets) attempt.stillThere(socket as EditorSocket)
    }
  },
})

export const crowdAttacks: Attack[] = [
  crowds('crowds-trashed', '4 boards with 500 sockets each go to the trash', (attempt, boards) =>
    attempt.times(boards.length, (n) => attempt.send('DELETE', `/boards/${boards[n]}`)),
  ),
  crowds(
    'crowds-leave',
    '2,000 sockets with a cursor on 4 boards end in one moment',
    async (_attempt, _boards, sockets) => {
      for (const { socket } of sockets) socket.terminate()
    },
  ),
  crowds(
    'crowds-move',
    '2,000 sockets on 4 boards move their cursors every 100 ms',
    async (attempt, boards, sockets) => {
      const perBoard = sockets.length / boards.length
      for (let turn = 2; turn < attempt.size(60, 20); turn++) {
        for (const [n, socket] of sockets.entries())
          socket.send(stateFrame(boards[Math.floor(n / perBoard)]!, (n % perBoard) + 1, turn, 100))
        await delay(100)
      }
    },
  ),
  {
    name: 'crowd-asks',
    point: 11,
    sends: '500 sockets ask for a board of 8 MB in one moment, and do not read',
    expects: ['open'],
    async prepare(attempt) {
      await attempt.editorCards(400, (n) => ({ body: `${n} `.repeat(4000).slice(0, 19_000) }))
      const sockets = await crowd(attempt, attempt.boardId)
      const question = stateVectorFrame(attempt.boardId, Y.encodeStateVector(new Y.Doc()))
      return async () => {
        for (const { socket } of sockets) socket.pause()
        for (const socket of sockets) socket.send(question)
        await delay(2 * afterMs)
        for (const socket of sockets) attempt.stillThere(socket as EditorSocket)
      }
    },
  },
]
