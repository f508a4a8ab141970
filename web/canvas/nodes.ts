/** Makes the canvas' nodes from cards and groups. A node whose card has not changed stays the same object. */
import type { Node } from '@xyflow/react'
import type { Card, Group } from '../board/cards.ts'
import type { Place } from '../board/presence.ts'

export type CardNode = Node<{ card: Card }, 'card'>
export type GroupNode = Node<{ group: Group }, 'box'>
export type BoardNode = CardNode | GroupNode

/** Where a card is shown while it is dragged or resized. */
export interface Frame extends Place {
  w?: number
  h?: number
}

export interface Shown {
  cards: readonly Card[]
  groups: readonly Group[]
  /** Cards that this window drags or resizes. */
  own: ReadonlyMap<string, Frame>
  /** Cards that others drag. */
  others: ReadonlyMap<string, Place>
  selected: ReadonlySet<string>
}

const known = new WeakMap<Card, CardNode>()

export function nodesOf({ cards, groups, own, others, selected }: Shown): BoardNode[] {
  const shown = cards.map((card, at) =>
    cardNode(card, at + 1, own.get(card.id) ?? others.get(card.id) ?? card, selected.has(card.id)),
  )
  const members = Map.groupBy(shown, ({ data }) => data.card.group_id)
  return [...groups.flatMap((group) => groupNode(group, members.get(group.id) ?? [])), ...shown]
}

function cardNode(card: Card, zIndex: number, frame: Frame, selected: boolean): CardNode {
  const { x, y, w: width = card.w, h: height = card.h } = frame
  const before = known.get(card)
  const isSame =
    before?.position.x === x &&
    before.position.y === y &&
    before.width === width &&
    before.height === height &&
    before.zIndex === zIndex &&
    before.selected === selected
  if (isSame) return before
  const node: CardNode = {
    id: card.id,
    type: 'card',
    position: { x, y },
    ...{ width, height, zIndex, selected, measured: { width, height } },
    data: { card },
    ariaLabel: labelOf(card),
    ariaRole: 'group',
  }
  known.set(card, node)
  return node
}

const padding = 20
const heading = 28

/** A box around the cards of the group. A group without cards is not shown. */
function groupNode(group: Group, members: CardNode[]): GroupNode[] {
  if (members.length === 0) return []
  const left = Math.min(...members.map(({ position }) => position.x)) - padding
  const top = Math.min(...members.map(({ position }) => position.y)) - padding - heading
  const right = Math.max(...members.map(({ position, width = 0 }) => position.x + width)) + padding
  const bottom = Math.max(...members.map(({ position, height = 0 }) => position.y + height)) + padding
  const [width, height] = [right - left, bottom - top]
  return [
    {
      id: `group ${group.id}`,
      type: 'box',
      position: { x: left, y: top },
      ...{ width, height, measured: { width, height }, zIndex: 0 },
      ...{ selectable: false, draggable: false, focusable: false, deletable: false },
      data: { group },
      ariaLabel: `Group: ${group.name}`,
    },
  ]
}

const kindNames: Record<string, string> = {
  ...{ note: 'Note', image: 'Picture', link: 'Link', doc: 'Document' },
  ...{ video: 'Video', audio: 'Audio', pdf: 'PDF', file: 'File' },
}

export const isKnownKind = (kind: string): boolean => Object.hasOwn(kindNames, kind)
export const kindName = (kind: string): string => kindNames[kind] ?? kind

function labelOf({ kind, title, body, section_header: isSection }: Card): string {
  const name = isSection === true ? 'Section' : kindName(kind)
  const text = title ?? body.slice(0, 80)
  return text === '' ? name : `${name}: ${text}`
}
