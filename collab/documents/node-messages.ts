/**
 * What the processes on one database, and the database itself, send each other over NOTIFY. Anybody who can connect can
 * send anything there, as can a newer version, so each message is checked before it is acted upon.
 *
 *   hint   {boards: [[boardId, seq], …], from}       catch up
 *   show   {board, seq, from, ask}                   catch up, send it to the canvases, and answer
 *   shown  {ask}                                     done
 *   notified {rows: [[account, id], …]}              new notifications; sent by the database itself, to all
 *   revoked  {}                                      tokens or sessions ended; sent by the database itself, to all
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

/** Null for what is no message of ours. */
export function parseNodeMessage(text: string): NodeMessage | null {
  try {
    const message: unknown = JSON.parse(text)
    return checker.Check(message) ? message : null
  } catch {
    return null
  }
}
