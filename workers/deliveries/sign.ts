/** The headers by which a receiver verifies a delivery. Two schemes sign the exact bytes of the body. */
import { createHmac } from 'node:crypto'

export interface Delivery {
  id: string
  event: string
  /** The exact bytes that are sent. */
  body: Uint8Array
  /** Time of this attempt, Unix seconds. */
  timestamp: number
}

/** The keys of a secret, one for each scheme. */
export interface SigningKeys {
  service: Buffer
  standard: Buffer
}

export interface Secrets {
  current: SigningKeys
  /** The secret before a rotation. It also signs, for a day. */
  previous?: SigningKeys | undefined
  /** How many deliveries of the webhook have failed in a row. */
  failuresInARow: number
}

/**
 * `X-Service-Signature` has one signature, since a receiver may compare the whole header. While there are two secrets, it
 * is of the previous one: a receiver that knows only that one notices nothing. After an odd number of failures in a row,
 * it is of the current one: a receiver that knows only that one accepts the second attempt at the latest, and its webhook
 * stays on. The lists in `X-Service-Signatures` and `webhook-signature` have both.
 */
export function signatureHeaders(delivery: Delivery, secrets: Secrets): Record<string, string> {
  const { current, previous, failuresInARow } = secrets
  const all = previous === undefined ? [current] : [current, previous]
  const turn = previous === undefined || failuresInARow % 2 === 1 ? current : previous
  const timestamp = String(delivery.timestamp)
  const signatures = all.map(
    ({ service }) => `v0=${hmac(service, `v0:${timestamp}:`, delivery.body).digest('hex')}`,
  )
  return {
    'x-service-signature': signatures[all.indexOf(turn)]!,
    'x-service-signatures': signatures.join(','),
    'x-service-request-timestamp': timestamp,
    'x-service-event': delivery.event,
    'x-service-delivery': delivery.id,
    'webhook-id': delivery.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': all
      .map(
        ({ standard }) =>
          `v1,${hmac(standard, `${delivery.id}.${timestamp}.`, delivery.body).digest('base64')}`,
      )
      .join(' '),
  }
}

const hmac = (key: Buffer, head: string, body: Uint8Array) =>
  createHmac('sha256', key).update(head).update(body)

/** @param secret as the API gave it: `whsec_` and 32 bytes in base64 */
export const signingKeys = (secret: string): SigningKeys => ({
  service: Buffer.from(secret), // the text as it was shown, with its prefix
  standard: Buffer.from(secret.replace(/^whsec_/, ''), 'base64'), // https://www.standardwebhooks.com: the decoded bytes
})

const secretsKept = 1000

/** Keeps decrypted keys, so that a secret is not decrypted for each delivery. */
export function keepKeys(
  open: (sealed: Uint8Array, webhookId: string) => string,
): (sealed: Uint8Array, webhookId: string) => SigningKeys {
  const kept = new Map<string, { sealed: Uint8Array; keys: SigningKeys }[]>()
  return (sealed, webhookId) => {
    const known = kept.get(webhookId) ?? []
    const found = known.find((one) => one.sealed === sealed || Buffer.compare(one.sealed, sealed) === 0)
    if (found) return found.keys
    const keys = signingKeys(open(sealed, webhookId))
    if (kept.size >= secretsKept) kept.clear()
    kept.set(webhookId, [{ sealed, keys }, ...known.slice(0, 1)]) // during a rotation there are two
    return keys
  }
}
