import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { route } from '../route.ts'
import { giveUpUpload } from './reserve.ts'
import { findSession, sessionFields } from './session.ts'

export const abortUpload = route({
  method: 'POST',
  path: '/uploads/multipart/abort',
  scope: 'write',
  refuses: ['not_found', 'forbidden'],
  summary: 'Abort an upload: its parts are thrown away.',
  schemas: { body: Type.Object(sessionFields) },
  answers: { 200: Type.Object({ aborted: Type.Boolean(), key: Type.String(), upload_id: Type.String() }) },
  async handle(context, { principal, body }) {
    await findSession(context, principal.userId, body)
    const ended = await giveUpUpload(context, principal.userId, body.key)
    if (!ended) throw new ServiceError('conflict', 'This upload is completed already.')
    return { body: { aborted: true, key: body.key, upload_id: body.upload_id } }
  },
})
