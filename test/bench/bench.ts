/** Glossary of the bench: the servers it compares, and the rows it prints. */
import type { Part } from './without.ts'
import type { Load } from './load/process.ts'
import type { ApiAddress, EditorAddress } from './load/jobs.ts'

export interface MemoryBytes {
  rss: number
  heapUsed: number
}

/** A server process under load. */
export interface Server {
  name: string
  /** Makes that many empty boards and returns their ids. */
  createBoards(count: number): Promise<string[]>
  /** The process's own figures, right after a full garbage collection. */
  memory(): Promise<MemoryBytes>
  stop(): Promise<void>
}

export interface EditorServer extends Server {
  editors: EditorAddress
}

export interface CardServer extends Server {
  api: ApiAddress
}

export interface ReceiverServer extends Server {
  url: string
}

export type EditorPeer = 'hocuspocus' | 'y-websocket'

/** A ratio's bound: of rates it is a least, of times and sizes a most. */
export type Target = { atLeast: number } | { atMost: number }

/** One line of the table: `subject` and `reference` are medians over the runs. */
export interface Row {
  name: string
  unit: string
  subject: number
  reference: number
  referenceName: string
  ratio: number
  /** The least and the greatest ratio of a run's two halves. */
  ratioRange: [number, number]
  target: Target
  met: boolean
}

/** What a measure works with. Servers are started at their first use and shared, but for the fresh ones. */
export interface Bench {
  seconds: number
  runs: number
  load: Load
  progress: (text: string) => void
  corkboard(): Promise<EditorServer & CardServer>
  /** One more of it, without one of its parts; the caller stops it. */
  corkboardWithout(part: Part): Promise<CardServer>
  /** The database that Corkboard works on, reached past all that it does; its tables are in the schema `corkboard`. */
  corkboardDatabaseUrl(): Promise<string>
  editorPeer(peer: EditorPeer): Promise<EditorServer>
  insertHandler(): Promise<CardServer>
  receiver(): Promise<ReceiverServer>
  /** Streams to disk and back, and nothing else. */
  fileHandler(): Promise<CardServer>
  /** Bare SQL over Corkboard's own tables, for the account that has most boards when it is started. */
  searchHandler(): Promise<CardServer>
  /** What is compared with a peer: Corkboard, or a second copy of the peer when the bench calibrates. */
  editorSubject(peer: EditorPeer): Promise<EditorServer>
  cardSubject(): Promise<CardServer>
  /** A process of its own; the caller stops it. */
  freshEditorSubject(peer: EditorPeer): Promise<EditorServer>
  freshEditorPeer(peer: EditorPeer): Promise<EditorServer>
}

/** Some rows that are measured together. */
export interface Measure {
  name: string
  summary: string
  /** False when a peer can stand in for Corkboard, so that the bench can calibrate. */
  needsCorkboard: boolean
  run(bench: Bench): Promise<Row[]>
}
