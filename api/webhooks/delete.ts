import Type from 'typebox'
import { currentOperation } from '../../sql/operation.ts'
import { route } from '../route.ts'
import { uuid } from '../schemas.ts'
import { requireWebhook, webhookParams } from './webhook.ts'

export const deleteWebhook = route({
  method: 'DELETE',
  path: '/webhooks/:id',
  scope: 'write',
  refuses: ['forbidden'],
  summary: 'Remove a webhook, what waits for it, and its log.',
  schemas: { params: webhookParams },
  answers: { 200: Type.Object({ deleted: Type.Literal(true), id: uuid }) },
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
