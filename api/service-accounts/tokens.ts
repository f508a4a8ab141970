import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { revokeServiceToken } from '../../sql/accounts/service-accounts.ts'
import { cutPage, pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { deletedAnswer, offsetPage, pageQuery } from '../http/schemas.ts'
import { id, list } from '../http/vocabulary.ts'
import { accountName, nameOf, rateLimitOf, requirePerson, scopesOf, tokenFields } from './fields.ts'
import {
  accessToken,
  accountParams,
  mint,
  remint,
  requireAccount,
  Token,
  tokenColumns,
  type TokenRow,
} from './service-account.ts'

export const listServiceTokens = route('GET /service-accounts/:id/tokens', 'read', {
  notInSessions: true,
  refuses: ['forbidden'],
  summary: 'List the tokens of a service account.',
  schemas: { params: accountParams, query: Type.Object(pageQuery) },
  answers: { 200: offsetPage({ tokens: list(Token, 'The tokens of this page.') }) },
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
    return { body: { tokens: shown, ...end } }
  },
})

const newToken = Type.Object({ name: Type.Optional(accountName), ...tokenFields })

export const mintServiceTokenRoute = route('POST /service-accounts/:id/tokens', 'write', {
  notInSessions: true,
  answersSecret: true,
  refuses: ['forbidden', 'limit_reached'],
  summary:
    'Create another token of a service account. Only this answer contains it. Earlier tokens stay valid.',
  schemas: { params: accountParams, body: newToken },
  answers: { 200: Type.Object({ token: Token, access_token: accessToken }) },
  async handle(context, { principal, params, body }) {
    const { database, answers } = context
    const rateLimit = rateLimitOf(body.rate_limit, context)
    const name = body.name === undefined ? null : nameOf(body.name)
    const made = await database.asUser(principal.userId, async (tx) => {
      const account = await requireAccount(tx, params.id)
      requirePerson(principal)
      return mint(tx, answers, {
        accountId: account.id,
        name: name ?? account.name,
        scopes: scopesOf(body.scopes, principal),
        rateLimit,
        ttlDays: body.ttl_days ?? null,
      })
    })
    return { body: made }
  },
  async rebuild({ database, answers }, { principal }, made) {
    return { body: await database.asUser(principal.userId, (tx) => remint(tx, answers, made)) }
  },
})

export const revokeServiceTokenRoute = route('DELETE /service-accounts/:id/tokens/:tokenId', 'write', {
  notInSessions: true,
  refuses: ['forbidden'],
  summary: 'Revoke one token of a service account.',
  schemas: {
    params: Type.Object({
      ...accountParams.properties,
      tokenId: id('Id of the token.'),
    }),
  },
  answers: { 200: deletedAnswer('token') },
  async handle({ database }, { principal, params }) {
    await database.asUser(principal.userId, async (tx) => {
      await requireAccount(tx, params.id)
      if (await revokeServiceToken(tx, params.id, params.tokenId)) return
      throw new ServiceError('not_found', 'This service account has no token with this id.')
    })
    return { body: { deleted: true, id: params.tokenId } }
  },
})
