import { anyone, managersOfWebhooks, table, toAll, type Operation } from './roles.ts'

export const webhooks: Record<string, Operation[]> = {
  'GET /webhooks': [
    { expect: anyone },
    {
      query: ({ workspaceId }) => `?workspace=${workspaceId}`,
      expect: table([200, 200, 403, 404, 404]),
    },
  ],
  'POST /webhooks': [
    {
      body: ({ workspaceId }) => ({
        workspace_id: workspaceId,
        url: 'https://93.184.215.14/',
        events: ['board.created'],
      }),
      expect: managersOfWebhooks,
    },
  ],
  'PATCH /webhooks/:id': [{ webhook: true, body: () => ({ name: 'New' }), expect: managersOfWebhooks }],
  'DELETE /webhooks/:id': [{ webhook: true, expect: managersOfWebhooks }],
  'POST /webhooks/:id/test': [{ webhook: true, expect: managersOfWebhooks }],
  'POST /webhooks/:id/rotate-secret': [{ webhook: true, expect: managersOfWebhooks }],
  'GET /webhooks/:id/deliveries': [
    {
      webhook: true,
      expect: managersOfWebhooks,
      holds: ({ deliveries }, { deliveryId }) => deliveries.some((one: any) => one.id === deliveryId),
      sees: toAll([['owner', 'editor'], true]),
    },
  ],
  'POST /webhooks/:id/deliveries/:deliveryId/redeliver': [{ webhook: true, expect: managersOfWebhooks }],
}
