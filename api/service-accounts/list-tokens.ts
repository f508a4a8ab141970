import Type from 'typebox'
import { list } from '../http/vocabulary.ts'
import { cutPage, pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { pageAnswer, pageQuery } from '../http/schemas.ts'
import {
  accountParams,
  presentToken,
  requireAccount,
  Token,
  tokenColumns,
  type TokenRow,
} from './service-account.ts'

export const listServiceTokens = route({
  method: 'GET',
  path: '/service-accounts/:id/tokens',
  scope: 'read',
  refuses: ['forbidden'],
  summary: 'List the tokens of a service account.',
  schemas: { params: accountParams, query: Type.Object(pageQuery) },
  answers: {
    200: Type.Object({
      tokens: list(Token, 'The tokens of this page.'),
      ...pageAnswer,
    }),
  },
  async handle({ database }, { principal, params, query }) {
    const page = pageOf(query)
    const rows = await database.asUser(principal.userId, async (tx) => {
      await requireAccount(tx, params.id)
      return tx<TokenRow[]>`
        select ${tokenColumns(tx)}
        from tokens t
        where t.user_id = ${params.id}
        order by t.created_at, t.id
        limit ${page.limit + 1} offset ${page.offset}`
    })
    const { shown, end } = cutPage(page, rows)
    return { body: { tokens: shown.map(presentToken), ...end } }
  },
})
