import { randomUUID } from 'node:crypto'
import Type from 'typebox'
import { createServiceAccount } from '../../sql/service-accounts.ts'
import { currentOperation } from '../../sql/operation.ts'
import { route } from '../route.ts'
import { uuid } from '../schemas.ts'
import { accountName, nameOf, requirePerson, scopesOf, tokenFields } from './fields.ts'
import {
  accessToken,
  accountAnswer,
  mint,
  remint,
  presentAccount,
  requireAccount,
  requireOwner,
  tokenAnswer,
} from './service-account.ts'

const body = Type.Object({ workspace_id: uuid, name: accountName, ...tokenFields })

export const createServiceAccountRoute = route({
  method: 'POST',
  path: '/service-accounts',
  scope: 'write',
  refuses: ['not_found', 'forbidden'],
  summary: 'Create a service account with its first token, which is in this answer alone.',
  schemas: { body },
  answers: {
    200: Type.Object({ service_account: accountAnswer, token: tokenAnswer, access_token: accessToken }),
  },
  async handle({ database, answers }, { principal, body }) {
    const name = nameOf(body.name)
    const workspaceId = body.workspace_id.toLowerCase()
    const rateLimit = body.rate_limit ?? null
    const made = await database.asUser(principal.userId, async (tx) => {
      await requireOwner(tx, workspaceId)
      requirePerson(principal)
      const scopes = scopesOf(body.scopes, principal)
      const id = randomUUID()
      currentOperation()?.concerns({ type: 'service_account', ids: [id], workspace: workspaceId })
      await createServiceAccount(tx, { id, workspaceId, name, rateLimit })
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
      service_account: presentAccount(await requireAccount(tx, made[0]!)),
      ...(await remint(tx, answers, made)),
    }))
    return { body }
  },
})
