import Type from 'typebox'
import { limits } from '../../../core/limits.ts'
import { resolveIdentifier } from '../../search/resolve.ts'
import { search as searchRoute } from '../../search/search.ts'
import { cut, fitting, pageEndAt } from '../fit.ts'
import { items, nextOffset, oneOf, pageInput, text, workspaceId } from '../fields.ts'
import { count, goOn, tool } from '../tool.ts'
import { boardLine, showBoard } from './shown.ts'

interface Page<Item> {
  items: Item[]
  offset: number
  has_more: boolean
  next_offset: number | null
}

const page = (description: string) => Type.Object({ items: items(description), ...nextOffset })

/** Characters of JSON for each of the two lists: half of a page. */
const listChars = 12_000

export const search = tool('search', 'Search boards and cards', {
  description:
    'Finds boards by name, and cards by title and text. A match contains every word of the query, also as part of a longer word. Best match first.',
  route: searchRoute,
  input: {
    query: Type.String({
      minLength: limits.search.query.min,
      maxLength: limits.search.query.max,
      description: 'Words to look for.',
    }),
    kind: Type.Optional(oneOf(['board', 'card'], 'Only boards, or only cards.')),
    workspace_id: workspaceId,
    ...pageInput(10, 50),
  },
  output: {
    boards: page('Boards as read_board returns them.'),
    cards: page('id, board_id, kind, title, excerpt.'),
  },
  call: ({ query, kind, workspace_id, limit, offset }) => ({
    query: { q: query, limit, offset, kind, workspace: workspace_id },
  }),
  show({ boards, cards }) {
    const shownPage = <Item>(page: Page<Item>, show: (item: Item) => object) => {
      const items = fitting(page.items.map(show), listChars)
      return { items, offset: page.offset, ...pageEndAt(items.length, page) }
    }
    const content = { boards: shownPage(boards, showBoard), cards: shownPage(cards, (one) => one) }
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

export const resolve = tool('resolve', 'Find by foreign identifier', {
  description:
    'Finds boards and cards by their identifier in another system, such as {"scope": "jira", "value": "CB-12"}. An image card also matches as an image.',
  route: resolveIdentifier,
  input: {
    scope: text('Name of the other system.'),
    value: text('Id in that system.'),
    type: Type.Optional(oneOf(['board', 'card', 'image'], 'Only matches of this type.')),
    workspace_id: workspaceId,
    ...pageInput(50),
  },
  output: {
    matches: items('type, id, board_id, workspace_id.'),
    ...nextOffset,
  },
  call: ({ workspace_id, ...query }) => ({
    query: { ...query, workspace: workspace_id },
  }),
  show: ({ matches, offset, has_more, next_offset }) => ({
    said: `${matches.length === 0 ? 'Nothing has this identifier.' : `${count(matches.length, 'object')}.`}${goOn({ has_more, next_offset })}`,
    lines: matches,
    content: { matches, offset, has_more, next_offset },
  }),
})
