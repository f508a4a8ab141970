/**
 * Makes the canvas' nodes from cards and groups. A node whose card has not changed stays the same object. xyflow gets those
 * in the region alone: it goes through all of its nodes whenever one of them changes.
 */
import type { Node } from '@xyflow/react'
import type { EditorCard as Card, EditorGroup as Group, Place } from '../../client/editor/index.ts'
import { labelOf } from '../contents/kinds.ts'
import { boundsOf, boxOf, touches, type Box, type Frame, type Frames } from './geometry.ts'

/** `hasHandles`: whether it is the only selected card, and so can be resized and turned. */
export type CardNode = Node<{ card: Card; rotation: number; hasHandles: boolean }, 'card'>
/** `members` are the boxes of the cards, seen from the group's own corner. */
export type GroupNode = Node<{ group: Group; members: Box[] }, 'box'>
export type BoardNode = CardNode | GroupNode

export interface Shown {
  cards: readonly Card[]
  groups: readonly Group[]
  /** Cards that this window drags, resizes or turns, or that a preview moves. */
  own: Frames
  /** Cards that others drag. */
  others: ReadonlyMap<string, Place>
  selected: ReadonlySet<string>
  region: Box
}

/** So many selected cards stay nodes outside of the region, so that they keep the focus. */
const mostKept = 50

export function nodesOf({ cards, groups, own, others, selected, region }: Shown): BoardNode[] {
  const shown: CardNode[] = []
  const members = new Map<string, Box[]>(groups.map(({ id }) => [id, []]))
  const keepsSelected = selected.size <= mostKept
  cards.forEach((card, at) => {
    const { id, group_id: groupId } = card
    const frame = own.get(id) ?? others.get(id) ?? card
    const box = boxOf(card, frame)
    if (groupId !== null) members.get(groupId)?.push(box)
    const isSelected = selected.has(id)
    const chosen = { selected: isSelected, hasHandles: isSelected && selected.size === 1 }
    if (touches(box, region) || (isSelected && keepsSelected))
      shown.push(cardNode(card, at + 1, frame, chosen))
  })
  const boxes = groups.flatMap((group) => groupNode(group, members.get(group.id)!, region))
  return [...boxes, ...shown]
}

/** xyflow shows a node without them once, wherever it is, to look for them. */
const noHandles: [] = []
const known = new WeakMap<Card, CardNode>()

function cardNode(
  card: Card,
  zIndex: number,
  frame: Frame,
  { selected, hasHandles }: { selected: boolean; hasHandles: boolean },
): CardNode {
  const { x, y, w: width = card.w, h: height = card.h, rotation = card.rotation } = frame
  const before = known.get(card)
  const isSame =
    before?.position.x === x &&
    before.position.y === y &&
    before.width === width &&
    before.height === height &&
    before.data.rotation === rotation &&
    before.data.hasHandles === hasHandles &&
    before.zIndex === zIndex &&
    before.selected === selected
  if (isSame) return before
  const node: CardNode = {
    id: card.id,
    type: 'card',
    position: { x, y },
    ...{ width, height, zIndex, selected, measured: { width, height }, handles: noHandles },
    data: { card, rotation, hasHandles },
    ariaLabel: labelOf(card),
    ariaRole: 'group',
  }
  known.set(card, node)
  return node
}

const padding = 20
const heading = 28
const groupPrefix = 'group '

/** The group that a node shows. Null for the node of a card. */
export const groupIdOf = (nodeId: string): string | null =>
  nodeId.startsWith(groupPrefix) ? nodeId.slice(groupPrefix.length) : null

/** A frame around the cards of the group. A group without cards is not shown. */
function groupNode(group: Group, members: Box[], region: Box): GroupNode[] {
  const inner = boundsOf(members)
  if (!inner) return []
  const [x, y] = [inner.x - padding, inner.y - padding - heading]
  const [width, height] = [inner.w + 2 * padding, inner.h + 2 * padding + heading]
  if (!touches({ x, y, w: width, h: height }, region)) return []
  return [
    {
      id: groupPrefix + group.id,
      type: 'box',
      position: { x, y },
      ...{ width, height, measured: { width, height }, zIndex: 0, handles: noHandles },
      ...{ selectable: false, focusable: false, deletable: false, dragHandle: '.group-name' },
      // Only its name takes the pointer. What is beside the cards is the canvas.
      style: { pointerEvents: 'none' },
      data: { group, members: members.map((box) => ({ ...box, x: box.x - x, y: box.y - y })) },
      ariaLabel: `Group: ${group.name}`,
    },
  ]
}
