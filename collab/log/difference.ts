export interface Difference {
  boardId: string
  what: 'card' | 'group' | 'count' | 'index' | 'search' | 'log' | 'history'
  /** The id of the card or group; the name of the counter; in the log and in the history `5`, `4-6` or `snapshot`. */
  id: string
  /**
   * - `missing`: not in the index, not in the log, or not in the history
   * - `extra`: in the index only
   * - `stale`: differs from the document
   * - `behind`: the index does not contain the newest changes
   * - `unreadable`, `pending`: a row of the log is damaged, or builds on a missing one
   */
  fault: 'missing' | 'extra' | 'stale' | 'behind' | 'unreadable' | 'pending'
  detail: string
}
