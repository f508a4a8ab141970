import { idsOf } from '../../sql/made.ts'
import { randomUUID } from 'node:crypto'
import Type from 'typebox'
import { createServiceAccount } from '../../sql/accounts/service-accounts.ts'
import { currentOperation } from '../../sql/operation.ts'
import { route } from '../http/route.ts'
import { workspaceId } from '../http/schemas.ts'
import { accountName, nameOf, rateLimitOf, requirePerson, scopesOf, tokenFields } from './fields.ts'
import {
  accessToken,
  ServiceAccount,
  mint,
  remint,
  presentAccount,
  requireAccount,
  requireOwner,
  Token,
} from './service-account.ts'

const body = Type.Object({ workspace_id: workspaceId, name: accountName, ...tokenFields })

export const createServiceAccountRoute = route({
  method: 'POST',
  path: '/service-accounts',
  scope: 'write',
  answersSecret: true,
  refuses: ['not_found', 'forbidden'],
  summary: 'Create a service account and its first token. Only this answer contains the token.',
  schemas: { body },
  answers: {
    200: Type.Object({ service_account: ServiceAccount, token: Token, access_token: accessToken }),
  },
  async handle(context, { principal, body }) {
    const { database, answers } = context
    const name = nameOf(body.name)
    const inWorkspace = body.workspace_id.toLowerCase()
    const rateLimit = rateLimitOf(body.rate_limit, context)
    const made = await database.asUser(principal.userId, async (tx) => {
      await requireOwner(tx, inWorkspace)
      requirePerson(principal)
      const scopes = scopesOf(body.scopes, principal)
      const id = randomUUID()
      currentOperation()?.concerns({ type: 'service_account', ids: [id], workspace: inWorkspace })
      await createServiceAccount(tx, { id, workspaceId: inWorkspace, name, rateLimit })
      const minted = await mint(tx, answers, {
        accountId: id,
        name,
        scopes,
        rateLimit,
        ttlDays: body.ttl_days ?? null,
      })
      return { service_account: presentAccount(await requireAccount(tx, id)), ...minted }
    })
    return { body: made }
  },
  async rebuild({ database, answers }, { principal }, made) {
    const body = await database.asUser(principal.userId, async (tx) => ({
      service_account: presentAccount(await requireAccount(tx, idsOf(made)[0]!)),
      ...(await remint(tx, answers, made)),
    }))
    return { body }
  },
})
