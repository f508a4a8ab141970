import Type from 'typebox'
import { route } from '../http/route.ts'
import { accountName, nameOf, rateLimitOf, requirePerson, scopesOf, tokenFields } from './fields.ts'
import { accessToken, accountParams, mint, remint, requireAccount, Token } from './service-account.ts'

const body = Type.Object({ name: Type.Optional(accountName), ...tokenFields })

export const mintServiceTokenRoute = route({
  method: 'POST',
  path: '/service-accounts/:id/tokens',
  scope: 'write',
  answersSecret: true,
  refuses: ['forbidden'],
  summary:
    'Create another token of a service account. Only this answer contains it. Earlier tokens stay valid.',
  schemas: { params: accountParams, body },
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
