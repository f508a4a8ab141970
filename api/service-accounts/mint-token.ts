import Type from 'typebox'
import { route } from '../route.ts'
import { accountName, nameOf, requirePerson, scopesOf, tokenFields } from './fields.ts'
import { accessToken, accountParams, mint, remint, requireAccount, tokenAnswer } from './service-account.ts'

const body = Type.Object({ name: Type.Optional(accountName), ...tokenFields })

export const mintServiceTokenRoute = route({
  method: 'POST',
  path: '/service-accounts/:id/tokens',
  scope: 'write',
  refuses: ['forbidden'],
  summary: 'Mint another token of a service account. The ones so far go on, until each is revoked.',
  schemas: { params: accountParams, body },
  answers: { 200: Type.Object({ token: tokenAnswer, access_token: accessToken }) },
  async handle({ database, answers }, { principal, params, body }) {
    const name = body.name === undefined ? null : nameOf(body.name)
    const made = await database.asUser(principal.userId, async (tx) => {
      const account = await requireAccount(tx, params.id)
      requirePerson(principal)
      return mint(tx, answers, {
        accountId: account.id,
        name: name ?? account.name,
        scopes: scopesOf(body.scopes, principal),
        rateLimit: body.rate_limit ?? null,
        ttlDays: body.ttl_days ?? null,
      })
    })
    return { body: made }
  },
  async rebuild({ database, answers }, { principal }, made) {
    return { body: await database.asUser(principal.userId, (tx) => remint(tx, answers, made)) }
  },
})
