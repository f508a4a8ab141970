/**
 * The messages that nodes (processes on one database) send each other, and that the database sends them. Other programs
 * can send on the same channel, and so can another version. So each message is validated first.
 *
 * A message may be lost, late, doubled or out of order. This must cost time only.
 *
 *   hint       {boards: [[boardId, seq], …]}   commits that the sender made: catch up with the log
 *   show       {ask, board, seq}               catch up, send the change to the canvases, then answer
 *   shown      {ask, board, seq}               the answer to `show`: `from` has shown the position
 *   awareness  {board}, bytes                  the newest awareness states of the sender's editors
 *   left       {}                              the sender signs off
 *   notified   {rows: [[account, id], …]}      new notifications; sent by the database
 *   revoked    {}                              somebody's access ended or shrank; sent by the database
 *
 * The database sends in the transaction that makes the change, whoever makes it. Its messages have no `from`.
 *
 * `hint` and `show` may carry what small commits added to the log (`added`), signed with a key of the nodes. A receiver
 * that has all before it need not read the log.
 */
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'

/** The version of the messages. A node ignores messages of another version. */
export const messageVersion = 1

/** Bytes of one message. Larger ones are not sent, and ignored when they arrive. */
export const maxMessageBytes = 1024 * 1024

const uuid = Type.String({ pattern: '^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' })
const seq = Type.Integer({ minimum: 0 })
const v = Type.Literal(messageVersion)

const added = Type.Object({
  board: uuid,
  after: seq,
  head: Type.Object({
    seq,
    indexedSeq: seq,
    apiClient: seq,
    apiClock: seq,
    topZ: Type.Number(),
    logRows: seq,
    logBytes: seq,
  }),
  /** Framed as in the log, in base64. */
  updates: Type.String(),
})
/** What commits added to the logs of boards, and the signature of the node that made them. */
const signed = Type.Optional(Type.Object({ added: Type.Array(added), signature: Type.String() }))

const fromNode = Type.Union([
  Type.Object({
    v,
    kind: Type.Literal('hint'),
    from: uuid,
    boards: Type.Array(Type.Tuple([uuid, seq])),
    signed,
  }),
  Type.Object({ v, kind: Type.Literal('show'), from: uuid, ask: uuid, board: uuid, seq, signed }),
  Type.Object({ v, kind: Type.Literal('shown'), from: uuid, ask: uuid, board: uuid, seq }),
  Type.Object({ v, kind: Type.Literal('awareness'), from: uuid, board: uuid }),
  Type.Object({ v, kind: Type.Literal('left'), from: uuid }),
])
const fromDatabase = Type.Union([
  Type.Object({ v, kind: Type.Literal('notified'), rows: Type.Array(Type.Tuple([uuid, uuid])) }),
  Type.Object({ v, kind: Type.Literal('revoked') }),
])

/** A message without its bytes, as it is sent. */
type Head = Static<typeof fromNode> | Static<typeof fromDatabase>
type WithBytes<H> = H extends { kind: 'awareness' } ? H & { bytes: Uint8Array } : H

/** A message as it is received. */
export type Message = WithBytes<Head>
export type MessageKind = Message['kind']
export type MessageOf<K extends MessageKind> = Extract<Message, { kind: K }>

type Bare<M> = M extends { from: string } ? Omit<M, 'v' | 'from'> : never
/** A message that a node sends. The bus adds the version and the sender. */
export type NodeMessage = Bare<Message>

/** What commits added to a board's log, as it is sent. */
export type SentAdded = Static<typeof added>
export type Signed = NonNullable<Static<typeof signed>>

/** A committed notification. */
export type Notified = [account: string, notificationId: string]

/** A message in two parts: JSON without line breaks, and the bytes of awareness. */
export interface Frame {
  head: string
  bytes: Uint8Array | null
}

const isFromNode = Compile(fromNode)
const isFromDatabase = Compile(fromDatabase)

export function toFrame(node: string, message: NodeMessage): Frame {
  const { bytes, ...head } = { bytes: null, ...message }
  return { head: JSON.stringify({ v: messageVersion, from: node, ...head }), bytes }
}

/** How the head of each message of a node begins: `toFrame` writes these two first. */
export const headStart = (node: string): string =>
  JSON.stringify({ v: messageVersion, from: node }).slice(0, -1)

/** Parses a message; null when it is not valid. */
export function parseFrame({ head, bytes }: Frame): Message | null {
  const parsed = parseJson(head)
  if (isFromDatabase.Check(parsed)) return bytes ? null : parsed
  if (!isFromNode.Check(parsed)) return null
  if (parsed.kind === 'awareness') return bytes ? { ...parsed, bytes } : null
  return bytes ? null : parsed
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
