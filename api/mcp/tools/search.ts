import Type, { type Static } from 'typebox'
import { limits } from '../../../core/limits.ts'
import { resolveIdentifier } from '../../resolve.ts'
import { nullable, timestamp, uuid } from '../../schemas.ts'
import { search as searchRoute } from '../../search/search.ts'
import { cut, fitting, pageEndAt } from '../fit.ts'
import { count, goOn, pageInput, pageOutput, tool, workspaceId } from '../tool.ts'
import { boardLine, shortBoard, showBoard, type Board } from './shown.ts'

const hit = Type.Object({
  id: Type.String(),
  board_id: uuid,
  kind: Type.String(),
  title: nullable(Type.String()),
  excerpt: Type.String(),
  updated_at: timestamp,
})

interface Page<Item> {
  items: Item[]
  offset: number
  has_more: boolean
  next_offset: number | null
}

/** Each of the two lists has half of a page. */
const listChars = 12_000

export const search = tool({
  name: 'search',
  title: 'Search boards and cards',
  description:
    'Finds boards by name and cards by title and text: what holds all words of the query, parts of words too, case and accents aside; best match first. Card hits carry an excerpt; read_card gives the whole card.',
  route: searchRoute,
  input: {
    query: Type.String({ minLength: limits.search.query.min, maxLength: limits.search.query.max }),
    kind: Type.Optional(Type.Enum(['board', 'card'], { description: 'Only boards, or only cards.' })),
    workspace_id: workspaceId,
    ...pageInput(10, 50),
  },
  output: {
    boards: Type.Object({ items: Type.Array(shortBoard), ...pageOutput }),
    cards: Type.Object({ items: Type.Array(hit), ...pageOutput }),
  },
  call: ({ query, kind, workspace_id, limit, offset }) => ({
    query: {
      q: query,
      limit,
      offset,
      ...(kind === undefined ? {} : { kind }),
      ...(workspace_id === undefined ? {} : { workspace: workspace_id }),
    },
  }),
  show({ boards, cards }: { boards: Page<Board>; cards: Page<Static<typeof hit>> }) {
    const pageOf = <Item>(page: Page<Item>, show: (item: Item) => object) => {
      const items = fitting(page.items.map(show), listChars)
      return { items, offset: page.offset, ...pageEndAt(items.length, page) }
    }
    const content = { boards: pageOf(boards, showBoard), cards: pageOf(cards, (one) => one) }
    const further = (['boards', 'cards'] as const)
      .filter((list) => content[list].has_more)
      .map((list) => ` More ${list}: kind ${list.slice(0, -1)}, offset ${content[list].next_offset}.`)
    return {
      said: `${count(content.boards.items.length, 'board')} and ${count(content.cards.items.length, 'card')}.${further.join('')}`,
      lines: [
        ...boards.items.slice(0, content.boards.items.length).map((board) => ({ board: boardLine(board) })),
        ...cards.items.slice(0, content.cards.items.length).map(({ id, board_id, title, excerpt }) => ({
          card: { id, board_id, title, excerpt: cut(excerpt, 200) },
        })),
      ],
      content,
    }
  },
})

const match = Type.Object({
  type: Type.Enum(['board', 'card', 'image']),
  id: Type.String(),
  board_id: uuid,
  workspace_id: uuid,
})

export const resolve = tool({
  name: 'resolve',
  title: 'Find by foreign identifier',
  description:
    'Finds what carries an identifier of another system: boards, cards, and the images of image cards. Such identifiers are pairs of a scope and a value, as in {"scope": "jira", "value": "CB-12"}.',
  route: resolveIdentifier,
  input: {
    scope: Type.String({ minLength: 1, maxLength: limits.identifiers.scope }),
    value: Type.String({ minLength: 1, maxLength: limits.identifiers.value }),
    type: Type.Optional(Type.Enum(['board', 'card', 'image'])),
    workspace_id: workspaceId,
    ...pageInput(50),
  },
  output: { matches: Type.Array(match), ...pageOutput },
  call: ({ workspace_id, ...query }) => ({
    query: { ...query, ...(workspace_id === undefined ? {} : { workspace: workspace_id }) },
  }),
  show: ({
    matches,
    offset,
    has_more,
    next_offset,
  }: {
    matches: Static<typeof match>[]
    offset: number
    has_more: boolean
    next_offset: number | null
  }) => ({
    said: `${matches.length === 0 ? 'Nothing carries this identifier.' : `${count(matches.length, 'object')}.`}${goOn({ has_more, next_offset })}`,
    lines: matches,
    content: { matches, offset, has_more, next_offset },
  }),
})
