/** The headers by which a receiver knows that a delivery is ours. Two schemes side by side, over the very bytes. */
import { createHmac } from 'node:crypto'

export interface Delivery {
  id: string
  event: string
  /** Exactly what is sent. */
  body: Uint8Array
  /** Of this attempt, Unix seconds. */
  timestamp: number
}

/** The keys that a secret stands for. */
export interface SigningKeys {
  service: Buffer
  standard: Buffer
}

export interface Secrets {
  current: SigningKeys
  /** Signs as well for a day after a rotation. */
  previous?: SigningKeys | undefined
  /** How many deliveries of the webhook have failed in a row. */
  failuresInARow: number
}

/**
 * `X-Service-Signature` holds one signature, whatever happens: a receiver may compare the whole header. While there are
 * two secrets it is of the previous one, so that a rotation changes nothing for a receiver that knows that one alone;
 * after a failure the other one has its turn, so that a receiver that knows the new one alone gets everything as well,
 * in its second attempt at the latest, and is not switched off. Lists of both, in `X-Service-Signatures` and in
 * `webhook-signature`, are right for both at once.
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
  service: Buffer.from(secret), // as it was shown, every character of it
  standard: Buffer.from(secret.replace(/^whsec_/, ''), 'base64'), // https://www.standardwebhooks.com: the bytes that it stands for
})

const secretsKept = 1000

/** Decrypts what is in use once, and not for each delivery. */
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
