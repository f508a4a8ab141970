import Type from 'typebox'
import { id } from '../http/vocabulary.ts'
import { ServiceError } from '../../core/errors.ts'
import { revokeServiceToken } from '../../sql/accounts/service-accounts.ts'
import { route } from '../http/route.ts'
import { deletedAnswer } from '../http/schemas.ts'
import { accountParams, requireAccount } from './service-account.ts'

export const revokeServiceTokenRoute = route({
  method: 'DELETE',
  path: '/service-accounts/:id/tokens/:tokenId',
  scope: 'write',
  refuses: ['forbidden'],
  summary: 'Revoke one token of a service account.',
  schemas: {
    params: Type.Object({
      ...accountParams.properties,
      tokenId: id('Id of the token.'),
    }),
  },
  answers: { 200: deletedAnswer('token') },
  async handle({ database }, { principal, params }) {
    await database.asUser(principal.userId, async (tx) => {
      await requireAccount(tx, params.id)
      if (await revokeServiceToken(tx, params.id, params.tokenId)) return
      throw new ServiceError('not_found', 'This service account has no token with this id.')
    })
    return { body: { deleted: true, id: params.tokenId } }
  },
})
