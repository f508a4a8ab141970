import { randomUUID } from 'node:crypto'
import Type from 'typebox'
import { createServiceAccount, retireServiceAccount } from '../../sql/accounts/service-accounts.ts'
import { idsOf } from '../../sql/made.ts'
import { currentOperation } from '../../sql/operation.ts'
import { cutPage, pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { deletedAnswer, offsetPage, pageQuery, workspaceId } from '../http/schemas.ts'
import { list } from '../http/vocabulary.ts'
import { accountName, nameOf, rateLimitOf, requirePerson, scopesOf, tokenFields } from './fields.ts'
import {
  accessToken,
  accountColumns,
  accountParams,
  mint,
  remint,
  requireAccount,
  requireOwner,
  ServiceAccount,
  Token,
  type ServiceAccountRow,
} from './service-account.ts'

const listQuery = Type.Object({ workspace: workspaceId, ...pageQuery })

export const listServiceAccounts = route('GET /service-accounts', 'read', {
  notInSessions: true,
  refuses: ['not_found', 'forbidden'],
  summary: 'List the service accounts of a workspace, including retired ones.',
  schemas: { query: listQuery },
  answers: {
    200: offsetPage({ service_accounts: list(ServiceAccount, 'The service accounts of this page.') }),
  },
  async handle({ database }, { principal, query }) {
    const page = pageOf(query)
    const rows = await database.asUser(principal.userId, async (tx) => {
      await requireOwner(tx, query.workspace)
      return tx<ServiceAccountRow[]>`
        select ${accountColumns(tx)}
        from service_accounts s
        where s.workspace_id = ${query.workspace}
        order by s.created_at, s.id
        limit ${page.limit + 1} offset ${page.offset}`
    })
    const { shown, end } = cutPage(page, rows)
    return { body: { service_accounts: shown, ...end } }
  },
})

const newAccount = Type.Object({ workspace_id: workspaceId, name: accountName, ...tokenFields })

export const createServiceAccountRoute = route('POST /service-accounts', 'write', {
  notInSessions: true,
  answersSecret: true,
  refuses: ['not_found', 'forbidden'],
  summary: 'Create a service account and its first token. Only this answer contains the token.',
  schemas: { body: newAccount },
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
      return { service_account: await requireAccount(tx, id), ...minted }
    })
    return { body: made }
  },
  async rebuild({ database, answers }, { principal }, made) {
    const body = await database.asUser(principal.userId, async (tx) => ({
      service_account: await requireAccount(tx, idsOf(made)[0]!),
      ...(await remint(tx, answers, made)),
    }))
    return { body }
  },
})

export const retireServiceAccountRoute = route('DELETE /service-accounts/:id', 'write', {
  notInSessions: true,
  refuses: ['forbidden'],
  summary: 'Retire a service account. Its tokens are revoked, and its open editors are disconnected.',
  schemas: { params: accountParams },
  answers: { 200: deletedAnswer('service account') },
  async handle({ database }, { principal, params }) {
    await database.asUser(principal.userId, async (tx) => {
      await requireAccount(tx, params.id)
      await retireServiceAccount(tx, params.id)
    })
    return { body: { deleted: true, id: params.id } }
  },
})
