/** Tells of cards that programs write: by the API, or as agents in an open board. */
import type * as Y from 'yjs'
import type { OpenBoard } from '../../client/editor/index.ts'

/** Editors have smaller client ids. Larger ones belong to the API. */
const firstOfApi = 2 ** 32

type CardEvent = Y.YEvent<Y.AbstractType<unknown>>

/**
 * @param onWrite gets the ids of cards that one change has added or changed
 * @returns a function that ends it
 */
export function watchPrograms(board: OpenBoard, onWrite: (ids: string[]) => void): () => void {
  const cards = board.document.getMap('cards')
  const isProgram = (client: number) =>
    client >= firstOfApi || board.people.get().some(({ clientId, agent }) => clientId === client && agent)
  const onEvents = (events: CardEvent[], { origin }: Y.Transaction) => {
    // What comes first is the board, and no change of it.
    if (origin !== board.provider || board.status.get().connection !== 'open') return
    const ids = new Set(events.flatMap((event) => (writersOf(event).some(isProgram) ? idsIn(event) : [])))
    if (ids.size > 0) onWrite([...ids])
  }
  cards.observeDeep(onEvents as Parameters<typeof cards.observeDeep>[0])
  return () => cards.unobserveDeep(onEvents as Parameters<typeof cards.unobserveDeep>[0])
}

const idsIn = ({ path, changes }: CardEvent): string[] =>
  path.length > 0 ? [String(path[0])] : [...changes.keys.keys()]

/** The clients that wrote what is there now. A removal has none. */
function writersOf(event: CardEvent): number[] {
  const { changes, target } = event
  const items = [...changes.keys.keys()].flatMap((key) => target._map.get(key) ?? [])
  // A text tells what was added as words alone, without their writers.
  for (let item = target._start; item; item = item.right) if (event.adds(item)) items.push(item)
  return items.filter(({ deleted }) => !deleted).map(({ id }) => id.client)
}
