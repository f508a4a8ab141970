/** Cards to create: as requested, and with all their data. */
import * as Y from 'yjs'
import { emptyContent, isKind, unknownKind, type CardChange, type CardContent } from '../../core/card.ts'
import { awaited, inTurns, type Steps } from '../../platform/work/loop-turn.ts'
import { readContent, type SharedMap } from './canvas.ts'
import { UpdateBuilder } from './edit.ts'
import { newIds } from './ids.ts'

export interface NewCard {
  change: CardChange
  /** The complete state of a removed card. Fields that `change` lacks are taken from it. */
  removed?: Uint8Array
}

export interface CardToCreate {
  id: string
  change: CardChange
  /** The removed card that is restored; null for a new card. */
  kept: SharedMap | null
}

/** @param open opens a state that may be large */
export function cardsToCreate(
  cards: NewCard[],
  open: (state: Uint8Array) => Promise<Y.Doc>,
): Promise<CardToCreate[]> {
  const ids = newIds(cards.length)
  return inTurns(
    (function* () {
      const created: CardToCreate[] = []
      for (const [n, { change, removed }] of cards.entries()) {
        const kept = removed ? keptIn(yield* awaited(() => open(removed)), change) : null
        created.push({ id: ids[n]!, change, kept })
        yield
      }
      return created
    })(),
  )
}

export const removedRoot = 'card'

/** The complete state of a card that is removed. */
export function* stateOfRemoved(shared: SharedMap): Steps<Uint8Array> {
  const builder = new UpdateBuilder(1, 0)
  yield* builder.copyMap(shared, removedRoot, removedRoot)
  return (yield* builder.endInSteps())!
}

/** The removed card in its state. The restored card keeps its kind, or gets one that the API can create. */
function keptIn(document: Y.Doc, change: CardChange): SharedMap {
  const kept = document.getMap(removedRoot).get(removedRoot)
  if (!(kept instanceof Y.Map)) throw new Error('The stored state of a removed card is not a card.')
  const { kind } = readContent(kept as SharedMap)
  if (change.kind !== undefined && change.kind !== kind && !isKind(change.kind)) throw unknownKind('', kind)
  return kept as SharedMap
}

export const isPlaced = (change: CardChange) => change.x !== undefined && change.y !== undefined

export const shapeOf = ({ change, kept }: Pick<CardToCreate, 'change' | 'kept'>): CardContent =>
  kept ? { ...readContent(kept), ...change } : completeContent(change)

export function completeContent(change: CardChange): CardContent {
  const content: Record<string, unknown> = { ...emptyContent, identifiers: [] }
  for (const [name, value] of Object.entries(change)) if (value !== undefined) content[name] = value
  content['body'] ||= null
  return content as CardContent
}
