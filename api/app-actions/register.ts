/**
 * Routes of the app for what is no operation of the API. They take the session cookie, and a CSRF token in a header. The
 * answers are JSON, errors too, and no other site can read them.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../../core/errors.ts'
import type { SignedIn } from '../../sql/accounts/sessions.ts'
import { sendError } from '../http/error-reply.ts'
import type { SignInContext } from '../sign-in/context.ts'
import { csrfToken, isCsrfToken } from '../sign-in/csrf.ts'
import { isForeignForm } from '../sign-in/origin.ts'
import { changeSchedule, scheduleActions } from './schedule.ts'

export type AppActionsContext = Pick<SignInContext, 'database' | 'sessions' | 'publicUrl'>

const csrfHeader = 'x-csrf-token'
const hidden = { schema: { hide: true } as object }

export async function registerAppActions(app: FastifyInstance, context: AppActionsContext): Promise<void> {
  await app.register((scope, _options, done) => {
    scope.setErrorHandler((error, request, reply) => sendError(error, request, reply))
    scope.addHook('onSend', (_request, reply, payload, next) => {
      reply
        .headers({ 'cache-control': 'no-store', 'cross-origin-resource-policy': 'same-origin' })
        .removeHeader('access-control-allow-origin')
        .removeHeader('access-control-expose-headers')
      next(null, payload)
    })
    scope.get('/app/csrf', hidden, async (request) => {
      const { secret } = await requireSession(context, request)
      return { csrf_token: csrfToken(secret) }
    })
    for (const action of scheduleActions)
      scope.post<{ Params: { id: string } }>(`/app/boards/:id/${action}`, hidden, async (request) => {
        const signedIn = await requireOwnPage(context, request)
        return { board: await changeSchedule(context, request, signedIn, action, request.params.id) }
      })
    done()
  })
}

async function requireSession(
  { sessions }: AppActionsContext,
  request: FastifyRequest,
): Promise<{ signedIn: SignedIn; secret: string }> {
  const secret = sessions.secretOf(request)
  const signedIn = secret === null ? undefined : await sessions.read(request)
  if (secret === null || !signedIn)
    throw new ServiceError('invalid_token', 'Nobody is signed in. Sign in, and try again.')
  return { signedIn, secret }
}

/** Checks that the request comes from a page of this service, in which somebody is signed in. */
async function requireOwnPage(context: AppActionsContext, request: FastifyRequest): Promise<SignedIn> {
  const given = request.headers[csrfHeader]
  const { signedIn, secret } = await requireSession(context, request)
  const isOwn = typeof given === 'string' && isCsrfToken(given, secret)
  if (isOwn && !isForeignForm(request.headers, context.publicUrl())) return signedIn
  throw new ServiceError(
    'forbidden',
    `This was not sent from a page of this service, or its header ${csrfHeader} is missing or outdated. Reload the page, and try again.`,
  )
}
