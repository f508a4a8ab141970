/** What `verify` tells. */
export interface Difference {
  boardId: string
  what: 'card' | 'group' | 'count' | 'index' | 'search' | 'log'
  /** Of the card or group; of a counter, its name; of the log, the position. */
  id: string
  /**
   * - `missing`: not in the index, or not in the log
   * - `extra`: in the index only
   * - `stale`: not what the document says
   * - `behind`: the index does not hold the newest changes
   * - `unreadable`, `pending`: a row of the log is damaged, or builds on one that is not there
   */
  fault: 'missing' | 'extra' | 'stale' | 'behind' | 'unreadable' | 'pending'
  detail: string
}
