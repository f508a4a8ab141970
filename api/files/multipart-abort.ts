import Type from 'typebox'
import { flag } from '../http/vocabulary.ts'
import { ServiceError } from '../../core/errors.ts'
import { currentOperation } from '../../sql/operation.ts'
import { route } from '../http/route.ts'
import { endUpload } from './reserve.ts'
import { findSession, sessionFields } from './session.ts'

export const abortUpload = route({
  method: 'POST',
  path: '/uploads/multipart/abort',
  scope: 'write',
  refuses: ['not_found', 'forbidden'],
  summary: 'Abort a multipart upload and discard its parts.',
  schemas: { body: Type.Object(sessionFields) },
  answers: {
    200: Type.Object({
      aborted: flag('Always true.'),
      key: sessionFields.key,
      upload_id: sessionFields.upload_id,
    }),
  },
  async handle(context, { principal, body }) {
    await findSession(context, principal.userId, body)
    const answer = { aborted: true, key: body.key, upload_id: body.upload_id }
    const ended = await endUpload(context, principal.userId, body.key, () => {
      const operation = currentOperation()
      operation?.concerns({ type: 'upload', ids: [body.key], board: body.board_id.toLowerCase() })
      operation?.answers(answer)
    })
    if (!ended) throw new ServiceError('conflict', 'This upload is already complete. It cannot be aborted.')
    return { body: answer }
  },
})
