import Type from 'typebox'
import { id, list, named, oneOf, text } from '../http/vocabulary.ts'
import { badRequest } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { requireFilter } from '../boards/require-filter.ts'
import { cutPage, pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { boardId, offsetPage, pageQuery, workspaceId } from '../http/schemas.ts'

const types = ['board', 'card', 'image'] as const

interface Found {
  type: (typeof types)[number]
  id: string
  board_id: string
  workspace_id: string
}

const query = Type.Object({
  scope: text('The `scope` of the identifier.', { minLength: 1, maxLength: limits.identifiers.scope }),
  value: text('The `value` of the identifier.', { minLength: 1, maxLength: limits.identifiers.value }),
  type: Type.Optional(oneOf(types, 'Only matches of this type.')),
  workspace: Type.Optional(id('Only matches in this workspace.')),
  ...pageQuery,
})

const Match = named('IdentifierMatch', 'A board, card or image with the identifier.', {
  type: oneOf(types, 'Type of the match.'),
  id: text('Id of the board or the card, or key of the image.'),
  board_id: boardId,
  workspace_id: workspaceId,
})

export const resolveIdentifier = route('GET /resolve', 'read', {
  refuses: ['not_found'],
  summary:
    'Find boards and cards by their identifier in another system. An image card also matches as an image.',
  schemas: { query },
  answers: {
    200: offsetPage({
      scope: text('The `scope` of the request.'),
      value: text('The `value` of the request.'),
      matches: list(Match, 'The matches of this page.'),
    }),
  },
  async handle({ database }, { principal, query }) {
    const { scope, value, type, workspace } = query
    for (const [field, text] of Object.entries({ scope, value })) {
      if (text.includes('\u0000')) throw badRequest(`${field} must not contain U+0000.`)
    }
    const page = pageOf(query)
    // Filters by the caller's workspaces and boards first, because a common value has rows of many tenants. Row-level
    // security still applies.
    const rows = await database.asUser(principal.userId, async (tx) => {
      const found = await tx<Found[]>`
        with mine as materialized (
          select array(select readable_workspaces(current_user_id())) as workspaces,
            array(select readable_shared_boards(current_user_id())) as boards
        ), carrying_boards as (
          select i.board_id
          from board_identifiers i
          where i.workspace_id = any ((select workspaces from mine)::uuid[]) and i.scope = ${scope} and i.value = ${value}
          union
          select i.board_id
          from board_identifiers i
          where i.board_id = any ((select boards from mine)::uuid[]) and i.scope = ${scope} and i.value = ${value}
        ), carrying_cards as (
          select i.board_id, i.card_id
          from card_identifiers i
          where i.workspace_id = any ((select workspaces from mine)::uuid[]) and i.scope = ${scope} and i.value = ${value}
          union
          select i.board_id, i.card_id
          from card_identifiers i
          where i.board_id = any ((select boards from mine)::uuid[]) and i.scope = ${scope} and i.value = ${value}
        ), found as (
          select 1 as rank, 'board' as type, board_id::text as id, board_id from carrying_boards
          union all
          select 2, 'card', card_id, board_id from carrying_cards
          union all
          select distinct 3, 'image', c.image_key, c.board_id
          from carrying_cards i
          join card_index c on c.board_id = i.board_id and c.card_id = i.card_id
          where c.kind = 'image' and c.image_key is not null and c.deleted_at is null
        )
        select f.type, f.id, f.board_id, b.workspace_id
        from found f
        join boards b on b.id = f.board_id
        where b.deleted_at is null
          ${type === undefined ? tx`` : tx`and f.type = ${type}`}
          ${workspace === undefined ? tx`` : tx`and b.workspace_id = ${workspace}`}
        order by f.rank, b.created_at, f.board_id, f.id collate "C"
        limit ${page.limit + 1} offset ${page.offset}`
      if (found.length === 0) await requireFilter(tx, query)
      return found
    })
    const { shown: matches, end } = cutPage(page, rows)
    return { body: { scope, value, matches, ...end } }
  },
})
