/**
 * The messages that processes on one database, and the database itself, send over NOTIFY. Anyone with a database
 * connection can send messages, and so can a newer version. So each message is validated first.
 *
 *   hint   {boards: [[boardId, seq], …], from}       catch up
 *   show   {board, seq, from, ask}                   catch up, send the change to the canvases, then answer
 *   shown  {ask}                                     the answer to `show`
 *   notified {rows: [[account, id], …]}              new notifications; sent by the database to all
 *   revoked  {}                                      tokens or sessions ended; sent by the database to all
 */
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'

const uuid = Type.String({ pattern: '^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' })
const seq = Type.Integer({ minimum: 0 })

const messageSchema = Type.Union([
  Type.Object({
    kind: Type.Literal('hint'),
    from: uuid,
    boards: Type.Array(Type.Tuple([uuid, seq])),
  }),
  Type.Object({ kind: Type.Literal('show'), from: uuid, board: uuid, seq, ask: uuid }),
  Type.Object({ kind: Type.Literal('shown'), from: uuid, ask: uuid }),
  Type.Object({ kind: Type.Literal('notified'), rows: Type.Array(Type.Tuple([uuid, uuid])) }),
  Type.Object({ kind: Type.Literal('revoked') }),
])

export type NodeMessage = Static<typeof messageSchema>

const checker = Compile(messageSchema)

/** Parses a message; null when it is not valid. */
export function parseNodeMessage(text: string): NodeMessage | null {
  try {
    const message: unknown = JSON.parse(text)
    return checker.Check(message) ? message : null
  } catch {
    return null
  }
}
