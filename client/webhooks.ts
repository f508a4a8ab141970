/** Receiving webhooks, in every runtime with Fetch and Web Crypto. */
import type { WebhookEvent } from './operations.ts'

/** A webhook's secret, `whsec_…`, or several while it is being rotated. A function is asked at each delivery. */
export type Secrets = string | string[] | (() => string | string[] | Promise<string | string[]>)

/** Why a delivery is not taken as genuine. Answer it with 401. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

/** A receiver refuses deliveries that were signed longer ago than this, or later than now. */
const toleranceSeconds = 300
const encoder = new TextEncoder()

/**
 * Checks that a delivery comes from the service, over the bytes of its body.
 *
 * @returns the event
 * @throws WebhookError
 */
export async function verifyWebhook(
  { headers, body }: { headers: Headers; body: string | Uint8Array },
  secrets: Secrets,
  nowMs = Date.now(),
): Promise<WebhookEvent> {
  const timestamp = headers.get('x-service-request-timestamp') ?? ''
  if (!/^\d+$/.test(timestamp)) throw new WebhookError('The delivery has no X-Service-Request-Timestamp.')
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookError(
      `The delivery was signed more than ${toleranceSeconds} seconds off. Check the clock of this machine.`,
    )
  const listed = headers.get('x-service-signatures') ?? headers.get('x-service-signature') ?? ''
  const given = listed.split(',').flatMap((one) => fromHex(/^\s*v0=([0-9a-f]{64})\s*$/.exec(one)?.[1]) ?? [])
  const bytes = typeof body === 'string' ? encoder.encode(body) : body
  const signed = join(encoder.encode(`v0:${timestamp}:`), bytes)
  for (const secret of [typeof secrets === 'function' ? await secrets() : secrets].flat()) {
    const key = await keyOf(secret)
    for (const signature of given)
      if (await crypto.subtle.verify('HMAC', key, signature, signed))
        return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent
  }
  throw new WebhookError('No signature of the delivery was made with this secret.')
}

export interface HandlerOptions {
  secret: Secrets
  /**
   * Called with each genuine delivery. When it throws, the delivery comes again later. `deliveryId` is the same in all
   * attempts: remember it, to handle each delivery once.
   */
  onEvent: (event: WebhookEvent, deliveryId: string) => void | Promise<void>
  /** Called with what was refused, and with what `onEvent` has thrown. */
  onError?: (error: unknown) => void
}

/** @returns a function that answers the deliveries of a webhook: 204, or 401 for what is not genuine */
export function createHandler({
  secret,
  onEvent,
  onError = () => undefined,
}: HandlerOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method !== 'POST')
      return new Response('Webhooks are sent with POST.\n', { status: 405, headers: { allow: 'POST' } })
    try {
      const body = new Uint8Array(await request.arrayBuffer())
      const event = await verifyWebhook({ headers: request.headers, body }, secret)
      await onEvent(event, request.headers.get('x-service-delivery') ?? '')
      return new Response(null, { status: 204 })
    } catch (error) {
      onError(error)
      return new Response(null, { status: error instanceof WebhookError ? 401 : 500 })
    }
  }
}

/** A delivery as the service sends it, for the tests of a receiver. */
export async function signForTest(
  url: string,
  event: WebhookEvent,
  secrets: string | string[],
  { deliveryId = crypto.randomUUID() as string, nowMs = Date.now() } = {},
): Promise<Request> {
  const body = JSON.stringify(event)
  const timestamp = String(Math.floor(nowMs / 1000))
  const signed = encoder.encode(`v0:${timestamp}:${body}`)
  const signatures: string[] = []
  for (const secret of [secrets].flat())
    signatures.push(`v0=${toHex(await crypto.subtle.sign('HMAC', await keyOf(secret), signed))}`)
  return new Request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-signature': signatures[0]!,
      'x-service-signatures': signatures.join(','),
      'x-service-request-timestamp': timestamp,
      'x-service-event': event.type,
      'x-service-delivery': deliveryId,
    },
    body,
  })
}

const keyOf = (secret: string) =>
  crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
    'verify',
  ])

function join(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(a.length + b.length)
  joined.set(a)
  joined.set(b, a.length)
  return joined
}

const fromHex = (hex: string | undefined): Uint8Array<ArrayBuffer> | undefined =>
  hex === undefined ? undefined : Uint8Array.from(hex.match(/../g)!, (pair) => Number.parseInt(pair, 16))
const toHex = (bytes: ArrayBuffer) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
