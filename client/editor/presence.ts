/** Who is here, and what they drag. All of it is awareness: it is shown to others, and never stored. */
import type { HocuspocusProvider } from '@hocuspocus/provider'
import type { Cards } from './canvas.ts'
import { DerivedStore, type Store } from './store.ts'

/** Who a person is, as the service has checked it. */
export interface Account {
  id: string
  name: string | null
  /** A guest of a link. */
  guest?: true
  /** Whom a session was minted for: a user of your own product, with the id that your product has for it. */
  session_user?: {
    id: string
    name: string | null
    color: string | null
    avatar_url: string | null
    service_account_id: string | null
  }
}

export interface Person {
  clientId: number
  /** Whether it is this editor. */
  isMe: boolean
  /** None of this editor's own. */
  account: Account | null
  /** Whether it is a program. */
  agent: boolean
  readOnly: boolean
  /** What the editor shows of itself, such as `user` and `cursor`. Check it: it can be anything. */
  state: Readonly<Record<string, unknown>>
}

export interface Place {
  x: number
  y: number
}

export interface Drag {
  /** Shows the cards moved by this much from where the drag began. */
  move(dx: number, dy: number): void
  /** Writes where the cards are now. */
  drop(): void
  cancel(): void
}

export interface Presence {
  people: Store<readonly Person[]>
  /** Where cards are shown that somebody drags at the moment. */
  drags: Store<ReadonlyMap<string, Place>>
  /** Shows fields of this editor to the others: at once, and then at most every 50 ms. */
  show(fields: Record<string, unknown>): void
  /** Begins to drag cards. Only the drop is written: each written position stays in the document's history. */
  drag(ids: string[]): Drag
  /** Shows cards at places, as `drag` does, and writes nothing. Null: the drag has ended. */
  showDrag(places: ReadonlyMap<string, Place> | null): void
}

/** As often the service passes states on. */
const showEveryMs = 50
/** A state has at most 16 KB. */
const maxShown = 200

export function openPresence(
  { awareness }: HocuspocusProvider,
  cards: Cards,
  transact: (change: () => void) => void,
): { shown: Presence; close(): void } {
  if (!awareness) throw new TypeError('The provider has no awareness.')
  const people = new DerivedStore<readonly Person[]>(() =>
    [...awareness.getStates()].map(([clientId, state]) => personOf(clientId, state)),
  )
  const personOf = (clientId: number, state: Record<string, unknown>): Person => ({
    clientId,
    isMe: clientId === awareness.clientID,
    account: (state['account'] as Person['account'] | undefined) ?? null,
    agent: state['agent'] === true,
    readOnly: state['readOnly'] === true,
    state,
  })
  const drags = new DerivedStore<ReadonlyMap<string, Place>>((before) => {
    const places = new Map(people.get().flatMap(({ state }) => draggedIn(state)))
    return before && isSame(before, places) ? before : places
  })
  awareness.on('change', () => {
    people.changed()
    drags.changed()
  })
  const { show, close } = throttled((fields) =>
    awareness.setLocalState({ ...awareness.getLocalState(), ...fields }),
  )
  const showDrag = (places: ReadonlyMap<string, Place> | null) => {
    const shown = places && [...places].slice(0, maxShown).map(([id, { x, y }]) => [id, [x, y]])
    show({ drag: shown && Object.fromEntries(shown) })
  }
  const drag = (ids: string[]): Drag => {
    const from = ids.flatMap((id) => cards.find(id) ?? [])
    let places = new Map<string, Place>()
    return {
      move(dx, dy) {
        places = new Map(from.map(({ id, x, y }) => [id, { x: x + dx, y: y + dy }]))
        showDrag(places)
      },
      drop() {
        transact(() => places.forEach((place, id) => cards.change(id, { ...place })))
        showDrag(null)
      },
      cancel: () => showDrag(null),
    }
  }
  return { shown: { people, drags, show, drag, showDrag }, close }
}

type Fields = Record<string, unknown>

/** Shows at once, and then the newest fields at most every 50 ms. */
function throttled(showNow: (fields: Fields) => void): { show: (fields: Fields) => void; close: () => void } {
  let waiting: Fields | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  const next = () => {
    timer = undefined
    if (!waiting) return
    const fields = waiting
    waiting = null
    timer = setTimeout(next, showEveryMs)
    showNow(fields)
  }
  return {
    show(fields) {
      waiting = { ...waiting, ...fields }
      if (timer === undefined) next()
    },
    close: () => clearTimeout(timer),
  }
}

const isSame = (before: ReadonlyMap<string, Place>, after: ReadonlyMap<string, Place>) =>
  before.size === after.size &&
  [...after].every(([id, { x, y }]) => before.get(id)?.x === x && before.get(id)?.y === y)

/** The places in a state that anybody can have written. */
function draggedIn(state: Readonly<Record<string, unknown>>): [string, Place][] {
  const { drag } = state
  if (typeof drag !== 'object' || drag === null) return []
  return Object.entries(drag).flatMap(([id, place]: [string, unknown]): [string, Place][] => {
    const [x, y] = Array.isArray(place) ? (place as unknown[]) : []
    return Number.isFinite(x) && Number.isFinite(y) ? [[id, { x: x as number, y: y as number }]] : []
  })
}
