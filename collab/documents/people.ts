/** Who has which board open on canvases of this process, for the counts that live lists show. Agents are not counted. */
export class People {
  /** The canvases of each account, by board. */
  readonly #on = new Map<string, Map<string, number>>()
  /** Boards with other people than were last written. */
  #changed = new Set<string>()

  joined(board: string, account: string): void {
    const accounts = this.#on.getOrInsertComputed(board, () => new Map())
    const canvases = accounts.get(account) ?? 0
    accounts.set(account, canvases + 1)
    if (canvases === 0) this.#changed.add(board)
  }

  left(board: string, account: string): void {
    const accounts = this.#on.get(board)
    const canvases = accounts?.get(account) ?? 0
    if (canvases > 1) accounts!.set(account, canvases - 1)
    if (canvases !== 1) return
    accounts!.delete(account)
    if (accounts!.size === 0) this.#on.delete(board)
    this.#changed.add(board)
  }

  /** Writes what has changed since the last call that succeeded. */
  async write(written: (changes: [board: string, accounts: string[]][]) => Promise<unknown>): Promise<void> {
    if (this.#changed.size === 0) return
    const changed = this.#changed
    this.#changed = new Set()
    try {
      await written([...changed].map((board) => [board, [...(this.#on.get(board)?.keys() ?? [])]]))
    } catch (error) {
      for (const board of changed) this.#changed.add(board)
      throw error
    }
  }
}
