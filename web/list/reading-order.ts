/** The order in which a board is read, as the service's layouts have it: row by row, from left to right. */
import type { EditorCard as Card, EditorGroup as Group } from '../../client/editor/index.ts'

/** Cards whose tops differ by less than this are in one row. It is half the height of the smallest card. */
const rowTolerance = 20

export function readingOrder(cards: readonly Card[]): Card[] {
  const read = cards.map((card) => ({ card, ...cornerOf(card) }))
  read.sort((a, b) => a.y - b.y || a.x - b.x || (a.card.id < b.card.id ? -1 : 1))
  const ordered: Card[] = []
  for (let from = 0; from < read.length;) {
    const end = read.findIndex(({ y }, at) => at > from && y >= read[from]!.y + rowTolerance)
    const row = read.slice(from, end < 0 ? read.length : end)
    row.sort((a, b) => a.x - b.x || a.y - b.y || (a.card.id < b.card.id ? -1 : 1))
    ordered.push(...row.map(({ card }) => card))
    from += row.length
  }
  return ordered
}

/** The upper left corner of the box that a turned card takes. */
function cornerOf({ x, y, w, h, rotation }: Card): { x: number; y: number } {
  const turn = (rotation * Math.PI) / 180
  const [sin, cos] = [Math.abs(Math.sin(turn)), Math.abs(Math.cos(turn))]
  return { x: x + (w - w * cos - h * sin) / 2, y: y + (h - w * sin - h * cos) / 2 }
}

/** Cards that are read together, under the name of their group or of a section. */
export interface Part {
  id: string
  /** What stands above: a group, a card that is a section header, or nothing. */
  under: { group: Group } | { header: Card } | null
  cards: Card[]
}

/** A group is read as a whole, where its first card is. A section header begins a part for the cards after it. */
export function partsOf(cards: readonly Card[], groups: readonly Group[]): Part[] {
  const byId = new Map(groups.map((group) => [group.id, group]))
  const parts = new Map<string, Part>()
  let open: Part = { id: 'first', under: null, cards: [] }
  parts.set(open.id, open)
  for (const card of readingOrder(cards)) {
    const group = byId.get(card.group_id ?? '')
    if (group) {
      const id = `group ${group.id}`
      if (!parts.has(id)) {
        parts.set(id, { id, under: { group }, cards: [] })
        // Cards after a group don't belong to it, nor to what is above it.
        open = { id: `after ${card.id}`, under: null, cards: [] }
        parts.set(open.id, open)
      }
      parts.get(id)!.cards.push(card)
    } else if (card['section_header'] === true) {
      open = { id: `section ${card.id}`, under: { header: card }, cards: [] }
      parts.set(open.id, open)
    } else open.cards.push(card)
  }
  return [...parts.values()].filter(({ under, cards }) => under !== null || cards.length > 0)
}
