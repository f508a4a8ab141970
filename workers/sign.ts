/** The headers by which a receiver knows that a delivery is ours. Two schemes side by side, over the very bytes. */
import { createHmac } from 'node:crypto'

export interface Delivery {
  id: string
  event: string
  /** Exactly what is sent. */
  body: string
  /** Of this attempt, Unix seconds. */
  timestamp: number
}

export interface Secrets {
  /** As the API gave it: `whsec_` and 32 bytes in base64. */
  current: string
  /** Signs as well for a day after a rotation. */
  previous?: string | undefined
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
  const signatures = all.map((secret) => serviceSignature(delivery, secret))
  return {
    'x-service-signature': signatures[all.indexOf(turn)]!,
    'x-service-signatures': signatures.join(','),
    'x-service-request-timestamp': String(delivery.timestamp),
    'x-service-event': delivery.event,
    'x-service-delivery': delivery.id,
    'webhook-id': delivery.id,
    'webhook-timestamp': String(delivery.timestamp),
    'webhook-signature': all.map((secret) => standardSignature(delivery, secret)).join(' '),
  }
}

type OpenSecret = (sealed: Uint8Array, webhookId: string) => string

const secretsKept = 1000

/** Decrypts what is in use once, and not for each delivery. */
export function keepOpened(open: OpenSecret): OpenSecret {
  const kept = new Map<string, { sealed: Uint8Array; secret: string }[]>()
  return (sealed, webhookId) => {
    const known = kept.get(webhookId) ?? []
    const found = known.find((one) => one.sealed === sealed || Buffer.compare(one.sealed, sealed) === 0)
    if (found) return found.secret
    const secret = open(sealed, webhookId)
    if (kept.size >= secretsKept) kept.clear()
    kept.set(webhookId, [{ sealed, secret }, ...known.slice(0, 1)]) // during a rotation there are two
    return secret
  }
}

/** Keyed with the secret as it was shown, every character of it. */
function serviceSignature({ timestamp, body }: Delivery, secret: string): string {
  return `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`
}

/** https://www.standardwebhooks.com: keyed with the bytes that the secret stands for. */
function standardSignature({ id, timestamp, body }: Delivery, secret: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}
