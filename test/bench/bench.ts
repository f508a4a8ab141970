/** Glossary of the bench: the servers that it compares, and the rows that it prints. */
import type { Turns } from '../support/turn-meter.ts'
import type { Part } from './without.ts'
import type { Load } from './load/process.ts'
import type { ApiAddress, EditorAddress } from './load/jobs.ts'

export interface MemoryBytes {
  rss: number
  heapUsed: number
  /** Of buffers, outside of the heap. */
  external: number
}

/** A server process under load. */
export interface Server {
  name: string
  /** Makes `count` empty boards and returns their ids. */
  createBoards(count: number): Promise<string[]>
  /** Returns the memory figures of the process after a full garbage collection. */
  memory(): Promise<MemoryBytes>
  /** Milliseconds of CPU time that the process has used. */
  cpuMs(): Promise<number>
  /** Returns how many bytes the process held at most during `work`, beyond those that it held before. */
  peakBytes(work: () => Promise<unknown>): Promise<number>
  /** Returns the longest turns of the event loop of the main thread during `work`. */
  turns(work: () => Promise<unknown>): Promise<Turns>
  stop(): Promise<void>
}

export interface EditorServer extends Server {
  editors: EditorAddress
}

export interface CardServer extends Server {
  api: ApiAddress
}

export interface Corkboard extends EditorServer, CardServer {
  dataDir: string
}

/** Nodes of Corkboard on one database. */
export interface Nodes {
  nodes: Corkboard[]
  databaseUrl: string
  /** Starts another node, which `stop` stops as well. */
  add(): Promise<Corkboard>
  stop(): Promise<void>
}

export interface ReceiverServer extends Server {
  url: string
}

/** `ws` is the floor: it writes the bytes, and does nothing else. */
export type EditorPeer = 'hocuspocus' | 'y-websocket' | 'ws'

/**
 * Limit of a ratio: a minimum for rates, a maximum for times and sizes. `atMostHere` limits the figure itself, not its
 * ratio.
 */
export type Target = { atLeast: number } | { atMost: number } | { atMostHere: number }

/** For whom the measure `capacity` computes the number of nodes. */
export interface Model {
  editors: number
  editorsPerBoard: number
  /** The share of the editors that work at a moment; the others look on. */
  activeShare: number
  /** Edits and movements of the cursor, for each editor that works. */
  editsPerSecond: number
  cursorsPerSecond: number
}

/** One line of the table: `subject` and `reference` are medians over the runs. */
export interface Row {
  name: string
  unit: string
  subject: number
  reference: number
  referenceName: string
  ratio: number
  /** The smallest and the largest ratio of single runs. */
  ratioRange: [number, number]
  /** Null for a row that only informs. */
  target: Target | null
  /** Null without a target, and when the reference is not above zero: then there is no ratio to judge. */
  met: boolean | null
}

/** The servers and settings for measures. Servers are started at their first use and shared, except fresh ones. */
export interface Bench {
  seconds: number
  runs: number
  load: Load
  progress: (text: string) => void
  /** Prints a text after the table. */
  note: (text: string) => void
  model: Model
  corkboard(): Promise<Corkboard>
  /** Starts a Corkboard with 20 accounts that all may edit its boards, for the measures of crowds. The caller stops it. */
  crowdSubject(): Promise<EditorServer & Partial<CardServer>>
  /** Starts another Corkboard without one of its components. The caller stops it. */
  corkboardWithout(part: Part): Promise<CardServer>
  /** Starts nodes on a database of their own, unless `--database-url` names one. The caller stops them. */
  startNodes(count: number, settings?: Record<string, string>): Promise<Nodes>
  /** Direct access to Corkboard's database. Its tables are in the schema `corkboard`. */
  corkboardDatabaseUrl(): Promise<string>
  editorPeer(peer: EditorPeer): Promise<EditorServer>
  insertHandler(): Promise<CardServer>
  /** Starts Hocuspocus with its extension for databases, and a POST that changes documents over direct connections. */
  databasePeer(): Promise<EditorServer & CardServer>
  receiver(): Promise<ReceiverServer>
  /** A server that only streams files to disk and back. */
  fileHandler(): Promise<CardServer>
  /** Bare SQL over Corkboard's tables, for the account that has the most boards at its start. */
  searchHandler(): Promise<CardServer>
  /** The server to compare with a peer: Corkboard, or a second copy of the peer when the bench calibrates. */
  editorSubject(peer: EditorPeer): Promise<EditorServer>
  cardSubject(): Promise<CardServer>
  /** Starts a separate process. The caller stops it. */
  freshEditorSubject(peer: EditorPeer): Promise<EditorServer>
  /** @param redisUrl for Hocuspocus and the floor: the Redis that several of them share */
  freshEditorPeer(peer: EditorPeer, redisUrl?: string): Promise<EditorServer>
}

/** A group of rows that are measured together. */
export interface Measure {
  name: string
  summary: string
  /** False when a peer can replace Corkboard, so that the bench can calibrate. */
  needsCorkboard: boolean
  run(bench: Bench): Promise<Row[]>
}
