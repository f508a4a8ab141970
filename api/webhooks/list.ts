import Type from 'typebox'
import { id, list } from '../http/vocabulary.ts'
import { cutPage, pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { pageAnswer, pageQuery } from '../http/schemas.ts'
import {
  presentWebhook,
  requireWorkspaceWriter,
  Webhook,
  webhookColumns,
  type WebhookRow,
} from './webhook.ts'

const query = Type.Object({
  workspace: Type.Optional(id('Only webhooks of this workspace.')),
  ...pageQuery,
})

export const listWebhooks = route({
  method: 'GET',
  path: '/webhooks',
  scope: 'read',
  refuses: ['not_found', 'forbidden'],
  summary: 'List the webhooks of a workspace, or of all workspaces that the account may write in.',
  schemas: { query },
  answers: {
    200: Type.Object({
      webhooks: list(Webhook, 'The webhooks of this page.'),
      ...pageAnswer,
    }),
  },
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
