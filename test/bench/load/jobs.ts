/**
 * Glossary of the bench's load process: the jobs that it takes, and what each answers.
 * All times are in milliseconds unless their name says otherwise.
 */

/** Where editors connect. A y-websocket server puts the board into the URL's path and knows no token. */
export interface EditorAddress {
  protocol: 'hocuspocus' | 'y-websocket'
  url: string
  token: string
}

/** Where cards are created and read; `root` is the prefix of every path. */
export interface ApiAddress {
  root: string
  token: string
}

/**
 * A request of the API. `cards` is the number of positioned cards that its body creates; `body` is another one, `image`
 * the bytes of a PNG in its place.
 */
export interface ApiRequest {
  method: 'GET' | 'POST'
  path: string
  cards: number
  body?: string
  image?: number
  headers?: Record<string, string>
}

/** What a closed loop reached in its measured seconds. */
export interface Throughput {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** CPU seconds of the load process per second: near 1, the load and not the server sets the pace. */
  loadBusy: number
}

/**
 * When an edit counts as done: its own editor got the acknowledgement, another editor of the board
 * got the edit, or both.
 */
export type EditDone = 'acknowledged' | 'relayed' | 'acknowledged and relayed'

/**
 * Editors in a closed loop: a board's n-th editor moves its own card about.
 * `firstEditor` counts the editors that the boards have seen in earlier jobs: an edit that a board has
 * already is no work.
 */
export interface RelayJob {
  server: EditorAddress
  boards: string[]
  editorsPerBoard: number
  firstEditor: number
  done: EditDone
  /** Edits that each editor has under way; the next one is sent when one is done. */
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

/** A change is made, over the API where one is given and else by an editor, and seen by another editor. */
export interface ScreenJob {
  server: EditorAddress
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

/** Cards that are created one after the other, each delivered to a webhook; without an API, bare POSTs. */
export interface DeliverOneJob {
  api: ApiAddress | null
  board: string
  count: number
}

/** Events, each delivered to all webhooks; without an API, bare POSTs. */
export interface DeliverManyJob {
  api: ApiAddress
  board: string
  /** Who sends: webhooks, or a loop of bare POSTs in the load process. */
  sender: 'webhooks' | 'loop'
  /** The database in whose outbox the events are put, all at once; null: cards cause them, which four connections create meanwhile, whoever sends. */
  outbox: string | null
  /** URL of the process that counts. */
  receiver: string
  webhooks: number
  events: number
  /** Of the bare POSTs. */
  connections: number
}

export interface Jobs {
  relay: { job: RelayJob; result: Throughput }
  requests: { job: RequestsJob; result: Throughput }
  alternate: { job: AlternateJob; result: { firstP50Ms: number; secondP50Ms: number } }
  screen: { job: ScreenJob; result: { p50Ms: number } }
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
