/**
 * Mirrors a workspace, and follows it live, by the API alone. A program of its own: it imports nothing, and is what
 * somebody would write after reading "Lists and change feeds" in docs/api.md.
 *
 *   npx node test/sync/mirror.ts http://127.0.0.1:4000 cork_… <workspace id>
 */

type Board = { id: string; parent_board_id: string | null; deleted: boolean } & Record<string, unknown>
type Card = { id: string } & Record<string, unknown>

const beginning = 'since=1970-01-01T00:00:00Z'

export class Mirror {
  readonly boards = new Map<string, Board>()
  /** By board, the trash included: its cards are still there. */
  readonly cards = new Map<string, Map<string, Card>>()
  /** Where each feed goes on. All of this may be kept on disk between runs, as long as they are less than 30 days apart. */
  #boardsFrom = beginning
  readonly #cardsFrom = new Map<string, string>()
  readonly #url: string
  readonly #token: string
  readonly #workspace: string

  constructor(url: string, token: string, workspace: string) {
    this.#url = url
    this.#token = token
    this.#workspace = workspace
  }

  /** Takes over all that has changed; true when something had. Call it again and again. */
  async catchUp(): Promise<boolean> {
    let changes = 0
    const path = `/boards?workspace=${this.#workspace}&deleted=1&include=props,identifiers&limit=500`
    this.#boardsFrom = (await this.#follow(path, 'boards', this.#boardsFrom, (row) => {
      const board = row as Board
      this.boards.set(board.id, board)
      changes += 1
    }))!
    for (const { id } of this.boards.values()) {
      const cards = this.cards.get(id) ?? new Map<string, Card>()
      this.cards.set(id, cards)
      const cardsPath = `/boards/${id}/cards?source=index&deleted=1&limit=500`
      const from = this.#cardsFrom.get(id) ?? beginning
      const next = await this.#follow(cardsPath, 'cards', from, (row) => {
        const card = row as Card
        if (card['deleted']) cards.delete(card.id)
        else cards.set(card.id, card)
        changes += 1
      })
      if (next !== null) {
        this.#cardsFrom.set(id, next)
        continue
      }
      // Purged from the trash, or no longer to be seen.
      this.boards.delete(id)
      this.cards.delete(id)
      this.#cardsFrom.delete(id)
      changes += 1
    }
    return changes > 0
  }

  /** Where a board is shown: at top level while its parent lies in the trash. */
  parentOf(board: Board): string | null {
    const parent = board.parent_board_id === null ? undefined : this.boards.get(board.parent_board_id)
    return parent && (!parent.deleted || board.deleted) ? parent.id : null
  }

  /** Reads a feed to its end. Null when there is no such thing. */
  async #follow(
    path: string,
    rows: string,
    from: string,
    take: (row: unknown) => void,
  ): Promise<string | null> {
    let query = from
    for (;;) {
      const response = await fetch(`${this.#url}/api/v1${path}&${query}`, {
        headers: { authorization: `Bearer ${this.#token}` },
      })
      if (response.status === 404) return null
      if (response.status === 429 || response.status === 503) {
        const seconds = Number(response.headers.get('retry-after') ?? 1)
        await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
        continue
      }
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      const page = (await response.json()) as Record<string, unknown>
      for (const row of page[rows] as unknown[]) take(row)
      query = `cursor=${encodeURIComponent(page['next_cursor'] as string)}`
      if (page['has_more'] !== true) return query
    }
  }
}

if (process.argv[1] === import.meta.filename) {
  const [url, token, workspace] = process.argv.slice(2)
  if (!url || !token || !workspace) throw new Error('usage: mirror.ts <url> <token> <workspace id>')
  const mirror = new Mirror(url, token, workspace)
  for (;;) {
    if (await mirror.catchUp()) {
      const cards = [...mirror.cards.values()].reduce((sum, { size }) => sum + size, 0)
      process.stdout.write(`${mirror.boards.size} boards, ${cards} cards\n`)
    }
    await new Promise((resolve) => setTimeout(resolve, 5000))
  }
}
