import { retireServiceAccount } from '../../sql/accounts/service-accounts.ts'
import { route } from '../http/route.ts'
import { deletedAnswer } from '../http/schemas.ts'
import { accountParams, requireAccount } from './service-account.ts'

export const retireServiceAccountRoute = route({
  method: 'DELETE',
  path: '/service-accounts/:id',
  scope: 'write',
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
