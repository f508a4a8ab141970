/** Who is here, and what they drag. All of it is awareness: it is shown to others, and never stored. */
import type { HocuspocusProvider } from '@hocuspocus/provider'
import type { Cards } from './canvas.ts'
import { DerivedStore, type Store } from './store.ts'

export interface Person {
  clientId: number
  /** Whether it is this editor. */
  isMe: boolean
  /** The account, as the service has checked it. None of this editor's own. */
  account: { id: string; name: string | null } | null
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
  /** Shows fields of this editor to the others. */
  show(fields: Record<string, unknown>): void
  /** Begins to drag cards. Only the drop is written: each written position stays in the document's history. */
  drag(ids: string[]): Drag
}

/** As often the service passes states on. */
const showEveryMs = 50
/** A state has at most 16 KB. */
const maxShown = 200

export function openPresence(
  { awareness }: HocuspocusProvider,
  cards: Cards,
  transact: (change: () => void) => void,
): Presence {
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
  const drags = new DerivedStore<ReadonlyMap<string, Place>>(
    () => new Map(people.get().flatMap(({ state }) => draggedIn(state))),
  )
  awareness.on('change', () => {
    people.changed()
    drags.changed()
  })
  const show = (fields: Record<string, unknown>) =>
    awareness.setLocalState({ ...awareness.getLocalState(), ...fields })
  return {
    people,
    drags,
    show,
    drag: (ids) => {
      const from = ids.flatMap((id) => cards.find(id) ?? [])
      const placed = (by: Place) => from.map(({ id, x, y }) => [id, { x: x + by.x, y: y + by.y }] as const)
      return beginDrag({
        show: (by) =>
          show({
            drag: Object.fromEntries(
              placed(by)
                .slice(0, maxShown)
                .map(([id, { x, y }]) => [id, [x, y]]),
            ),
          }),
        hide: () => show({ drag: null }),
        write: (by) => transact(() => placed(by).forEach(([id, place]) => cards.change(id, { ...place }))),
      })
    },
  }
}

interface Dragging {
  show(by: Place): void
  hide(): void
  write(by: Place): void
}

/** Shows at once, and then at most every 50 ms. */
function beginDrag({ show, hide, write }: Dragging): Drag {
  let by: Place = { x: 0, y: 0 }
  let timer: ReturnType<typeof setTimeout> | undefined
  let isDue = false
  const showNow = () => {
    isDue = false
    show(by)
    timer = setTimeout(() => {
      timer = undefined
      if (isDue) showNow()
    }, showEveryMs)
  }
  const end = () => {
    clearTimeout(timer)
    hide()
  }
  return {
    move(dx, dy) {
      by = { x: dx, y: dy }
      if (timer === undefined) showNow()
      else isDue = true
    },
    drop() {
      write(by)
      end()
    },
    cancel: end,
  }
}

/** The places in a state that anybody can have written. */
function draggedIn(state: Readonly<Record<string, unknown>>): [string, Place][] {
  const { drag } = state
  if (typeof drag !== 'object' || drag === null) return []
  return Object.entries(drag).flatMap(([id, place]: [string, unknown]): [string, Place][] => {
    const [x, y] = Array.isArray(place) ? (place as unknown[]) : []
    return Number.isFinite(x) && Number.isFinite(y) ? [[id, { x: x as number, y: y as number }]] : []
  })
}
