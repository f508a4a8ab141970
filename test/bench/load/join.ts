import * as Y from 'yjs'
import { openEditor, type EditorSocket } from './editor.ts'
import { editStream } from './edits.ts'
import type { FillJob, JoinJob } from './jobs.ts'

/** Of a card without its text. */
const cardBytes = 110
/** A server acknowledges frames of this size at once. */
const cardsPerFrame = 500

/** State vectors of filled boards. */
const filled = new Map<string, Uint8Array>()

export async function fill({ server, board, bytes, textChars }: FillJob): Promise<null> {
  const document = new Y.Doc()
  const cards = document.getMap('cards')
  const editor = await openEditor(server, board)
  try {
    for (let n = 0; n * (cardBytes + textChars) < bytes; n += cardsPerFrame) {
      const before = Y.encodeStateVector(document)
      document.transact(() => {
        for (let at = n; at < n + cardsPerFrame; at++) cards.set(`filled-${at}`, card(at, textChars))
      })
      const acknowledged = Promise.withResolvers<void>()
      editor.onAcknowledged = acknowledged.resolve
      editor.onFailure = acknowledged.reject
      editor.sendUpdate(Y.encodeStateAsUpdate(document, before))
      await acknowledged.promise
    }
  } finally {
    editor.close()
  }
  filled.set(board, Y.encodeStateVector(document))
  return null
}

function card(n: number, textChars: number): Y.Map<unknown> {
  const fields = { kind: 'note', title: `Card ${n}`, x: (n % 100) * 300, y: n * 2, w: 280, h: 180, z: n }
  return new Y.Map([
    ...Object.entries(fields),
    ['body', new Y.Text('lorem ipsum '.repeat(42).slice(0, textChars))],
  ])
}

export async function join({ server, board, rounds, atOnce, have, edits }: JoinJob): Promise<null> {
  const vector = have === 'filled' ? filled.get(board) : undefined
  const tokens = server.tokens ?? [server.token]
  const writer = edits ? await openEditor(server, board) : null
  try {
    for (let round = 0; round < rounds; round++) {
      if (writer) await editOnce(writer, board)
      const joined = await Promise.all(
        Array.from({ length: atOnce }, (_, at) =>
          openEditor({ ...server, token: tokens[(round + at) % tokens.length]! }, board, vector),
        ),
      )
      for (const editor of joined) editor.close()
    }
  } finally {
    writer?.close()
  }
  return null
}

/** How many edits a board has. An edit that it already has would cost nothing, and one that builds on others would wait. */
const made = new Map<string, number>()

async function editOnce(writer: EditorSocket, board: string): Promise<void> {
  const turn = made.get(board) ?? 0
  made.set(board, turn + 1)
  const acknowledged = Promise.withResolvers<void>()
  writer.onAcknowledged = acknowledged.resolve
  writer.onFailure = acknowledged.reject
  writer.sendUpdate(editStream(0).at(turn).update)
  await acknowledged.promise
}
