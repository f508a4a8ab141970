/**
 * What must be in the database after a crash, and what may be.
 *
 *   entry         a card, known by its unique title, or a token: a code point that is only once in a text that several
 *                 write to. Each has one writer, who writes it in order.
 *   version       what a write made of it. Acknowledged: it must be there, unless a later version is.
 */
export interface CardState {
  /** Null: the service chose the place, and its answer did not arrive. */
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
  /** Null: it is not there. */
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

  /** The last acknowledged version and all later ones. */
  get allowed(): Version[] {
    return this.versions.slice(this.versions.findLastIndex(({ acknowledged }) => acknowledged))
  }

  /** What was seen in the database stays there: from now on this alone is right. */
  settle(state: CardState | null): void {
    this.versions = [{ state, acknowledged: true }]
  }
}

/** One board's share. */
export class BoardLedger {
  readonly cards = new Map<string, Entry>()
  /** Of the text of the card `sharedTitle`. */
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

  /** @returns one line for each thing that is lost, there twice, or not what it should be */
  compare(found: FoundCard[]): string[] {
    const faults: string[] = []
    const byTitle = Map.groupBy(found, ({ title }) => title)
    for (const [title, cards] of byTitle) {
      if (cards.length > 1) faults.push(`card ${title} is there ${cards.length} times`)
      if (!this.cards.has(title) && title !== this.sharedTitle) faults.push(`card ${title} is from nobody`)
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
      if (count > 1) faults.push(`token ${name(token)} is there ${count} times`)
      if (!this.tokens.has(token)) faults.push(`token ${name(token)} is from nobody`)
    }
    for (const [token, { allowed }] of this.tokens) {
      if (!counts.has(token) && allowed.every(({ state }) => state !== null))
        faults.push(`token ${name(token)} is lost`)
    }
    return faults
  }

  /** Takes what is in the database for what must stay there. Only when nobody has anything under way. */
  settle(found: FoundCard[]): void {
    const byTitle = new Map(found.map((card) => [card.title, card]))
    for (const [title, entry] of this.cards) entry.settle(byTitle.get(title) ?? null)
    const there = new Set(byTitle.get(this.sharedTitle)?.body ?? '')
    for (const [token, entry] of this.tokens) entry.settle(there.has(token) ? tokenState : null)
  }
}

/** A shared text grows no longer than this; the API takes bodies of 20,000 characters. */
export const maxSharedText = 15_000

/** Ideographs of two code units each, 42,720 of them. */
const firstToken = 0x20000

const tokenState: CardState = { x: null, y: null, body: '' }

/** A place between two tokens of a text; `at` is anywhere in it. */
export const tokenGap = (at: number): number => at - (at % 2)

const name = (token: string): string => `U+${token.codePointAt(0)!.toString(16)}`

function entryOf(entries: Map<string, Entry>, key: string): Entry {
  let entry = entries.get(key)
  if (!entry) entries.set(key, (entry = new Entry()))
  return entry
}

function matches(state: CardState | null, card: FoundCard | null): boolean {
  if (!state || !card) return state === null && card === null
  return (state.x ?? card.x) === card.x && (state.y ?? card.y) === card.y && state.body === card.body
}

const show = (state: CardState | null): string =>
  state ? `at ${state.x}, ${state.y} with ${JSON.stringify(state.body)}` : 'absent'
