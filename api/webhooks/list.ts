import Type from 'typebox'
import { cutPage, pageOf } from '../page.ts'
import { route } from '../route.ts'
import { pageAnswer, pageQuery, uuid } from '../schemas.ts'
import {
  presentWebhook,
  requireWorkspaceWriter,
  webhookAnswer,
  webhookColumns,
  type WebhookRow,
} from './webhook.ts'

const query = Type.Object({ workspace: Type.Optional(uuid), ...pageQuery })

export const listWebhooks = route({
  method: 'GET',
  path: '/webhooks',
  scope: 'read',
  refuses: ['not_found', 'forbidden'],
  summary: 'List the webhooks of a workspace, or of all in which the account may write.',
  schemas: { query },
  answers: { 200: Type.Object({ webhooks: Type.Array(webhookAnswer), ...pageAnswer }) },
  async handle({ database, clock }, { principal, query }) {
    const page = pageOf(query)
    const { workspace } = query
    const rows = await database.asUser(principal.userId, async (tx) => {
      if (workspace !== undefined) await requireWorkspaceWriter(tx, workspace)
      return tx<WebhookRow[]>`
        select ${webhookColumns(tx)}
        from webhooks w
        ${workspace === undefined ? tx`` : tx`where w.workspace_id = ${workspace}`}
        order by w.created_at, w.id
        limit ${page.limit + 1} offset ${page.offset}`
    })
    const { shown, end } = cutPage(page, rows)
    return { body: { webhooks: shown.map((row) => presentWebhook(row, clock.now())), ...end } }
  },
})
