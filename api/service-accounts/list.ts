import Type from 'typebox'
import { list } from '../http/vocabulary.ts'
import { cutPage, pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { pageAnswer, pageQuery, workspaceId } from '../http/schemas.ts'
import {
  ServiceAccount,
  accountColumns,
  presentAccount,
  requireOwner,
  type ServiceAccountRow,
} from './service-account.ts'

const query = Type.Object({ workspace: workspaceId, ...pageQuery })

export const listServiceAccounts = route({
  method: 'GET',
  path: '/service-accounts',
  scope: 'read',
  refuses: ['not_found', 'forbidden'],
  summary: 'List the service accounts of a workspace, including retired ones.',
  schemas: { query },
  answers: {
    200: Type.Object({
      service_accounts: list(ServiceAccount, 'The service accounts of this page.'),
      ...pageAnswer,
    }),
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
    return { body: { service_accounts: shown.map(presentAccount), ...end } }
  },
})
