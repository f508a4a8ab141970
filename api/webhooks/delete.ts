import { currentOperation } from '../../sql/operation.ts'
import { route } from '../http/route.ts'
import { deletedAnswer } from '../http/schemas.ts'
import { requireWebhook, webhookParams } from './webhook.ts'

export const deleteWebhook = route({
  method: 'DELETE',
  path: '/webhooks/:id',
  scope: 'write',
  refuses: ['forbidden'],
  summary: 'Delete a webhook, its waiting deliveries and its delivery log.',
  schemas: { params: webhookParams },
  answers: { 200: deletedAnswer('webhook') },
  async handle({ database }, { principal, params }) {
    await database.asUser(principal.userId, async (tx) => {
      await requireWebhook(tx, params.id)
      const [gone] = await tx<{ workspace: string }[]>`
        delete from webhooks where id = ${params.id} returning workspace_id as workspace`
      currentOperation()?.concerns({ type: 'webhook', ids: [params.id], workspace: gone?.workspace ?? null })
    })
    return { body: { deleted: true, id: params.id } }
  },
})
