/** Who is on the board, where their cursors are, and what they drag. It is awareness: shown to others and never stored. */
import type { HocuspocusProvider } from '@hocuspocus/provider'
import { textOf } from './cards.ts'
import { DerivedStore, type Store } from './store.ts'

export interface Place {
  readonly x: number
  readonly y: number
}

export interface Person {
  readonly clientId: number
  readonly name: string
  /** The account, or the client when the service has not named the account. One person may have several windows. */
  readonly who: string
  readonly isMe: boolean
  /** Whether it is a program. */
  readonly agent: boolean
  readonly cursor: Place | null
}

export interface Presence {
  readonly people: Store<readonly Person[]>
  /** Where the cards are that others drag at the moment. */
  readonly drags: Store<ReadonlyMap<string, Place>>
  showCursor(cursor: Place | null): void
  /** Shows where dragged cards are. Null: the drag has ended. */
  showDrag(places: ReadonlyMap<string, Place> | null): void
}

const everyMs = 50
/** A state has at most 16 KB. */
const maxShown = 200

export function openPresence({ awareness }: HocuspocusProvider): Presence {
  if (!awareness) throw new TypeError('The provider has no awareness.')
  const states = () => [...awareness.getStates()] as [number, Record<string, unknown>][]
  const others = () => states().filter(([clientId]) => clientId !== awareness.clientID)
  const people = new DerivedStore<readonly Person[]>(() =>
    states().map(([clientId, state]) => personOf(clientId, state, clientId === awareness.clientID)),
  )
  const drags = new DerivedStore<ReadonlyMap<string, Place>>(
    () =>
      new Map(
        others().flatMap(([, { drag }]) => (isRecord(drag) ? Object.entries(drag).flatMap(placed) : [])),
      ),
  )
  awareness.on('change', () => {
    people.changed()
    drags.changed()
  })
  const show = throttled((fields) => awareness.setLocalState({ ...awareness.getLocalState(), ...fields }))
  return {
    people,
    drags,
    showCursor: (cursor) => show({ cursor }),
    showDrag(places) {
      const shown = places && [...places].slice(0, maxShown).map(([id, { x, y }]) => [id, [x, y]])
      show({ drag: shown && Object.fromEntries(shown) })
    },
  }
}

type Fields = Record<string, unknown>

/** Shows the newest fields at most every 50 ms. */
function throttled(show: (fields: Fields) => void): (fields: Fields) => void {
  let waiting: Fields | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  const showNow = () => {
    timer = undefined
    if (!waiting) return
    show(waiting)
    waiting = null
    timer = setTimeout(showNow, everyMs)
  }
  return (fields) => {
    waiting = { ...waiting, ...fields }
    if (timer === undefined) showNow()
  }
}

function personOf(clientId: number, state: Fields, isMe: boolean): Person {
  const account = isRecord(state['account']) ? state['account'] : {}
  return {
    clientId,
    isMe,
    name: textOf(account['name']) ?? 'Somebody',
    who: textOf(account['id']) ?? String(clientId),
    agent: state['agent'] === true,
    cursor: placeOf(state['cursor']),
  }
}

const isRecord = (value: unknown): value is Fields => typeof value === 'object' && value !== null

function placeOf(value: unknown): Place | null {
  const { x, y } = isRecord(value) ? value : {}
  return Number.isFinite(x) && Number.isFinite(y) ? { x: x as number, y: y as number } : null
}

function placed([id, value]: [string, unknown]): [string, Place][] {
  const place = Array.isArray(value) ? placeOf({ x: value[0] as unknown, y: value[1] as unknown }) : null
  return place ? [[id, place]] : []
}
