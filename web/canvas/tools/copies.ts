/** Copies of cards: on the clipboard, from board to board, and beside the original. */
import type {
  CardFields,
  EditorCard as Card,
  EditorGroup,
  OpenBoard,
  Place,
} from '../../../client/editor/index.ts'
import { isRecord } from '../../board/values.ts'
import { boundsOf, boxOf } from '../geometry.ts'
import { isKnownKind } from '../../contents/kinds.ts'
import { cardsOf, step } from './actions.ts'

/** The type on the clipboard. Other programs get the text. */
export const clipboardType = 'application/x-corkboard-cards+json'

export interface Copied {
  /** The board that they come from. */
  board: string
  cards: CardFields[]
  groups: EditorGroup[]
}

type Fields = CardFields & { kind: string }

/** An identifier belongs to one card, and a token to the removed one. */
const ofOneCard = new Set(['id', 'identifiers', 'restore_token', 'created_at', 'updated_at'])

const fieldsOf = (card: Card): CardFields =>
  Object.fromEntries(Object.entries(card).filter(([name, value]) => !ofOneCard.has(name) && value !== null))

/** Groups come along when all of their cards do. */
export function copy(board: OpenBoard, boardId: string, ids: Iterable<string>): Copied {
  const cards = cardsOf(board, ids)
  const copied = new Set(cards)
  const groups = board.groups
    .get()
    .filter(({ id }) => board.cards.get().every((card) => card.group_id !== id || copied.has(card)))
  return { board: boardId, cards: cards.map(fieldsOf), groups }
}

export const textOfCopies = ({ cards }: Copied): string =>
  cards.map(({ title, body, url }) => [title, body, url].filter(Boolean).join('\n')).join('\n\n')

/** @returns null for what is no copy of cards */
export function readCopies(json: string): Copied | null {
  try {
    const { board, cards, groups } = JSON.parse(json) as Partial<Copied>
    if (typeof board !== 'string' || !Array.isArray(cards) || !Array.isArray(groups)) return null
    return { board, cards: cards.filter(isCard), groups: groups.filter(isGroup) }
  } catch {
    return null
  }
}

const isCard = (card: unknown): card is Fields =>
  isRecord(card) &&
  typeof card['kind'] === 'string' &&
  ['x', 'y', 'w', 'h'].every((name) => Number.isFinite(card[name]))
const isGroup = (group: unknown): group is EditorGroup =>
  isRecord(group) && typeof group['id'] === 'string' && typeof group['name'] === 'string'

/** Moves copies as a whole, so that their middle is at a place. */
export function centred({ cards, ...rest }: Copied, at: Place): Copied {
  const all = boundsOf(cards.map((card) => boxOf({ w: 0, h: 0, rotation: 0 }, card as Card)))
  if (!all) return { cards, ...rest }
  const [dx, dy] = [at.x - all.x - all.w / 2, at.y - all.y - all.h / 2].map(Math.round)
  return { cards: cards.map((card) => ({ ...card, x: card.x! + dx!, y: card.y! + dy! })), ...rest }
}

const files = ['image_key', 'file_key', 'poster_key']

/**
 * Adds copies to a board. A card with a file that comes from another board is written by the API, which lets this board's
 * people see the file. It knows no kinds of other editors.
 *
 * @returns the new ids, and the cards that are left for the API
 */
export function addCopies(board: OpenBoard, boardId: string, { board: from, cards, groups }: Copied) {
  const needsApi = (card: CardFields) =>
    from !== boardId && isKnownKind(card.kind!) && files.some((name) => typeof card[name] === 'string')
  const top = board.cards.get().at(-1)?.z ?? 0
  return step(board, () => {
    const newGroups = new Map(
      groups.map(({ id, name, shape, outline, color }) => [
        id,
        board.groups.add({ name, shape, outline, ...(color === null ? {} : { color }) }),
      ]),
    )
    const placed = cards.map((card, at): Fields => {
      const groupId = newGroups.get(card.group_id ?? '') ?? null
      return { ...card, kind: card.kind!, group_id: groupId, z: top + 1 + at }
    })
    return {
      ids: placed.filter((card) => !needsApi(card)).map((card) => board.cards.add(card)),
      forApi: placed.filter(needsApi),
    }
  })
}

const beside = 24

/** @returns the ids of the copies */
export function duplicate(board: OpenBoard, boardId: string, ids: Iterable<string>): string[] {
  const copied = copy(board, boardId, ids)
  const cards = copied.cards.map((card) => ({ ...card, x: card.x! + beside, y: card.y! + beside }))
  return addCopies(board, boardId, { ...copied, cards }).ids
}
