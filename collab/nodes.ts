/** What other processes have open. A process alone has nobody to tell. */
export interface Nodes {
  /** Tells the other nodes that have this board open to catch up; true when all that have it open did so in time. */
  show(boardId: string, seq: number, timeoutMs: number): Promise<boolean>
}

export const singleNode: Nodes = { show: () => Promise.resolve(true) }
