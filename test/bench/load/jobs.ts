/**
 * Glossary of the bench's load process: its jobs and their results.
 * All times are in milliseconds unless their name says otherwise.
 */

/** Address for editors. A y-websocket server has the board in the URL's path and no token. */
export interface EditorAddress {
  protocol: 'hocuspocus' | 'y-websocket'
  url: string
  token: string
  /** Tokens of further accounts. Editors that are opened together take them in turn. */
  tokens?: string[]
}

/** Address for creating and reading cards. `root` is the prefix of every path. */
export interface ApiAddress {
  root: string
  token: string
}

/**
 * A request of the API. Its body is one of three: `cards` positioned cards, `body`, or the bytes of a PNG (`image`).
 */
export interface ApiRequest {
  method: 'GET' | 'POST'
  path: string
  cards: number
  body?: string
  image?: number
  headers?: Record<string, string>
}

/** Result of a closed loop in its measured seconds. */
export interface Throughput {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** CPU seconds of the load process per second. Near 1, the load process is the bottleneck and not the server. */
  loadBusy: number
}

/**
 * When an edit is complete: after its acknowledgement, after another editor of the board received it, or after both.
 */
export type EditDone = 'acknowledged' | 'relayed' | 'acknowledged and relayed'

/**
 * Editors in a closed loop. A board's n-th editor moves its own card. `firstEditor` is the number of editors in earlier
 * jobs on these boards, because an edit that a board already has costs nothing.
 */
export interface RelayJob {
  server: EditorAddress
  boards: string[]
  editorsPerBoard: number
  firstEditor: number
  done: EditDone
  /** Edits in flight per editor. The editor sends the next edit when one is complete. */
  inFlight: number
  seconds: number
}

/** Keep-alive connections that each have one request in flight and take the requests in turn. */
export interface RequestsJob {
  api: ApiAddress
  requests: ApiRequest[]
  connections: number
  until: { seconds: number } | { count: number }
}

/** One connection that sends `first` and `second` in turn, `count` times each. */
export interface AlternateJob {
  api: ApiAddress
  first: ApiRequest
  second: ApiRequest
  count: number
}

/** A change that another editor receives. It is made with the API if one is given, otherwise by an editor. */
export interface ScreenJob {
  server: EditorAddress
  /** Where the other editor is, when it is on another node. */
  viewer?: EditorAddress
  board: string
  api: ApiAddress | null
  count: number
}

/** Editors that connect, sync, and then do nothing until `release`. */
export interface HoldJob {
  server: EditorAddress
  boards: string[]
  editorsPerBoard: number
}

/**
 * A cursor that an editor of `to` sees. It moves `count` times: every `everyMs`, or each time that long after it was
 * seen.
 */
export interface CursorJob {
  from: EditorAddress
  to: EditorAddress
  board: string
  count: number
  everyMs: number
  waits: boolean
}

/** A document of cards, written by an editor. */
export interface FillJob {
  server: EditorAddress
  board: string
  bytes: number
  /** Characters of text on each card. */
  textChars: number
}

/** Editors that join a filled board, read it, and leave again. They do not decode what they get. */
export interface JoinJob {
  server: EditorAddress
  board: string
  rounds: number
  /** How many join at the same time, in each round. */
  atOnce: number
  /** What they have already: nothing, or what `fill` wrote. */
  have: 'nothing' | 'filled'
  /** Whether an editor makes an edit in each round before. */
  edits: boolean
}

/** An editor that types one edit at a time beside API clients that create cards as fast as they can. */
export interface TypingJob {
  server: EditorAddress
  api: ApiAddress
  board: string
  clients: number
  editsPerSecond: number
  seconds: number
}

/** People on one board whose cursors move at a steady rate, or stand still and are renewed. All of them look on, too. */
export interface CrowdJob {
  server: EditorAddress
  board: string
  people: number
  perSecond: number
  moves: boolean
  seconds: number
}

/**
 * What one editor on each of the boards sends, also to held editors of its board, at a steady rate: edits that each wait
 * for their acknowledgement, or cursor positions. Null: nothing is sent for that time.
 */
export interface BroadcastJob {
  server: EditorAddress
  boards: string[]
  what: 'edits' | 'cursors' | null
  /** On each board. Default: one. */
  senders?: number
  /** Of each editor. Null: the next edit is sent when the last one is acknowledged. */
  perSecond: number | null
  seconds: number
}

export interface Broadcast {
  sent: number
  /** Frames that the held editors received. */
  delivered: number
  /** From sending an edit until its acknowledgement. */
  p50Ms: number
}

/** Cards created one after the other, each delivered to a webhook. Without an API: bare POSTs. */
export interface DeliverOneJob {
  api: ApiAddress | null
  board: string
  count: number
}

/** Events that are each delivered to all webhooks. Without an API: bare POSTs. */
export interface DeliverManyJob {
  api: ApiAddress
  board: string
  /** The sender: webhooks, or a loop of bare POSTs in the load process. */
  sender: 'webhooks' | 'loop'
  /**
   * Database whose outbox gets all events at once. Null: four connections create cards meanwhile, for either sender.
   */
  outbox: string | null
  /** URL of the receiver process, which counts. */
  receiver: string
  webhooks: number
  events: number
  /** Number of concurrent bare POSTs. */
  connections: number
}

export interface Jobs {
  relay: { job: RelayJob; result: Throughput }
  requests: { job: RequestsJob; result: Throughput }
  alternate: { job: AlternateJob; result: { firstP50Ms: number; secondP50Ms: number } }
  screen: { job: ScreenJob; result: { p50Ms: number } }
  cursor: { job: CursorJob; result: { p50Ms: number } }
  broadcast: { job: BroadcastJob; result: Broadcast }
  fill: { job: FillJob; result: null }
  join: { job: JoinJob; result: null }
  crowd: { job: CrowdJob; result: { sent: number; delivered: number } }
  typing: { job: TypingJob; result: { p95Ms: number; writesPerSecond: number } }
  deliverOne: { job: DeliverOneJob; result: { p50Ms: number } }
  deliverMany: { job: DeliverManyJob; result: { perSecond: number } }
  hold: { job: HoldJob; result: null }
  release: { job: null; result: null }
}

export type JobKind = keyof Jobs

/** What the bench sends to the load process, and what comes back. */
export interface JobMessage {
  kind: JobKind
  job: unknown
}
export type JobReply = { result: unknown } | { error: string }
