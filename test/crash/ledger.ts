/**
 * Records what must and what may be in the database after a crash.
 *
 *   entry         a card, identified by its unique title, or a token: a code point that occurs once in a shared text.
 *                 Each entry has one writer, who writes it in order.
 *   version       the state of an entry after a write. An acknowledged version must exist, unless a later one does.
 */
export interface CardState {
  /** Null: the service chose the position, and its answer did not arrive. */
  x: number | null
  y: number | null
  body: string
}

export interface FoundCard {
  title: string
  x: number
  y: number
  body: string
}

export interface Version {
  /** Null: the entry does not exist. */
  state: CardState | null
  acknowledged: boolean
}

export class Entry {
  versions: Version[] = [{ state: null, acknowledged: true }]

  write(state: CardState | null): Version {
    const version = { state, acknowledged: false }
    this.versions.push(version)
    return version
  }

  /** Returns the last acknowledged version and all later ones. */
  get allowed(): Version[] {
    return this.versions.slice(this.versions.findLastIndex(({ acknowledged }) => acknowledged))
  }

  /** Records the version found in the database. From now on only this version is valid. */
  settle(state: CardState | null): void {
    this.versions = [{ state, acknowledged: true }]
  }
}

/** The entries of one board. */
export class BoardLedger {
  readonly cards = new Map<string, Entry>()
  /** Tokens in the text of the card `sharedTitle`. */
  readonly tokens = new Map<string, Entry>()
  readonly sharedTitle: string

  constructor(sharedTitle: string) {
    this.sharedTitle = sharedTitle
  }

  card(title: string): Entry {
    return entryOf(this.cards, title)
  }

  newToken(): { token: string; version: Version } {
    const token = String.fromCodePoint(firstToken + this.tokens.size)
    const entry = entryOf(this.tokens, token)
    return { token, version: entry.write(tokenState) }
  }

  /** @returns one line for each entry that is lost, duplicated or wrong */
  compare(found: FoundCard[]): string[] {
    const faults: string[] = []
    const byTitle = Map.groupBy(found, ({ title }) => title)
    for (const [title, cards] of byTitle) {
      if (cards.length > 1) faults.push(`card ${title} exists ${cards.length} times`)
      if (!this.cards.has(title) && title !== this.sharedTitle)
        faults.push(`card ${title} was written by no client`)
    }
    for (const [title, entry] of this.cards) {
      const card = byTitle.get(title)?.[0] ?? null
      if (!entry.allowed.some(({ state }) => matches(state, card)))
        faults.push(
          `card ${title} is ${show(card)}; it should be ${entry.allowed.map(({ state }) => show(state)).join(' or ')}`,
        )
    }
    const counts = new Map<string, number>()
    for (const token of byTitle.get(this.sharedTitle)?.[0]?.body ?? '')
      counts.set(token, (counts.get(token) ?? 0) + 1)
    for (const [token, count] of counts) {
      if (count > 1) faults.push(`token ${name(token)} exists ${count} times`)
      if (!this.tokens.has(token)) faults.push(`token ${name(token)} was written by no client`)
    }
    for (const [token, { allowed }] of this.tokens) {
      if (!counts.has(token) && allowed.every(({ state }) => state !== null))
        faults.push(`token ${name(token)} is lost`)
    }
    return faults
  }

  /** Records the state of the database as valid. Call it only when no write is in flight. */
  settle(found: FoundCard[]): void {
    const byTitle = new Map(found.map((card) => [card.title, card]))
    for (const [title, entry] of this.cards) entry.settle(byTitle.get(title) ?? null)
    const there = new Set(byTitle.get(this.sharedTitle)?.body ?? '')
    for (const [token, entry] of this.tokens) entry.settle(there.has(token) ? tokenState : null)
  }
}

/** Largest length of a shared text. The API accepts bodies of 20,000 characters. */
export const maxSharedText = 15_000

/** Tokens are 42,720 ideographs of two code units each. */
const firstToken = 0x20000

const tokenState: CardState = { x: null, y: null, body: '' }

/** Returns a position between two tokens of a text, at or next to `at`. */
export const tokenGap = (at: number): number => at - (at % 2)

const name = (token: string): string => `U+${token.codePointAt(0)!.toString(16)}`

function entryOf(entries: Map<string, Entry>, key: string): Entry {
  let entry = entries.get(key)
  if (!entry) entries.set(key, (entry = new Entry()))
  return entry
}

export function matches(state: CardState | null, card: FoundCard | null): boolean {
  if (!state || !card) return state === null && card === null
  return (state.x ?? card.x) === card.x && (state.y ?? card.y) === card.y && state.body === card.body
}

export const show = (state: CardState | null): string =>
  state ? `at ${state.x}, ${state.y} with ${JSON.stringify(state.body)}` : 'absent'
