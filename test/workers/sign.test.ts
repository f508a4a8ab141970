import { createHmac, randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { signatureHeaders, signingKeys } from '../../workers/deliveries/sign.ts'

const makeSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const body = JSON.stringify({
  type: 'card.created',
  text: 'caf\u00e9 \u{1f600} \u{1f469}\u200d\u{1f680} \u2028 \u2029 \ud800 \\ "',
})
const delivery = () => ({
  id: '0b10e469-70c5-44e6-ae3e-a6e80f8a0566',
  event: 'card.created',
  body: Buffer.from(body),
  timestamp: Math.floor(Date.now() / 1000),
})

/** As the contract says it, over the bytes that a receiver gets. */
const contract = (secret: string, timestamp: number) =>
  `v0=${createHmac('sha256', Buffer.from(secret, 'utf8'))
    .update(Buffer.concat([Buffer.from(`v0:${timestamp}:`), Buffer.from(body, 'utf8')]))
    .digest('hex')}`

/** Of the keys known to the receiver. */
function accepted(headers: Record<string, string>, secret: string): boolean {
  try {
    return new Webhook(secret).verify(Buffer.from(body), headers) !== null
  } catch {
    return false
  }
}

test('[W52] the signature is that of the contract, over the bytes, with emoji and U+2028 in them', () => {
  const secret = makeSecret()
  const given = delivery()
  expect(signatureHeaders(given, { current: signingKeys(secret), failuresInARow: 0 })).toMatchObject({
    'x-service-signature': contract(secret, given.timestamp),
    'x-service-signatures': contract(secret, given.timestamp),
    'x-service-request-timestamp': String(given.timestamp),
    'x-service-event': 'card.created',
    'x-service-delivery': given.id,
    'webhook-id': given.id,
    'webhook-timestamp': String(given.timestamp),
  })
})

test('[W53] the package standardwebhooks verifies with the secret as it was shown, and with no other', () => {
  const secret = makeSecret()
  const headers = signatureHeaders(delivery(), { current: signingKeys(secret), failuresInARow: 0 })
  expect(accepted(headers, secret)).toBe(true)
  expect(accepted(headers, makeSecret())).toBe(false)
  expect(accepted({ ...headers, 'webhook-id': 'another' }, secret)).toBe(false)
})

test('[W54] while two secrets sign, lists serve receivers of either, and the single header has the previous one, after a failure the other', () => {
  const [current, previous] = [makeSecret(), makeSecret()]
  const given = delivery()
  const expected = [previous, current, previous, current]
  for (const [failuresInARow, turn] of expected.entries()) {
    const headers = signatureHeaders(given, {
      current: signingKeys(current),
      previous: signingKeys(previous),
      failuresInARow,
    })
    expect(headers['x-service-signature']).toBe(contract(turn, given.timestamp))
    expect(headers['x-service-signatures']).toBe(
      `${contract(current, given.timestamp)},${contract(previous, given.timestamp)}`,
    )
    expect([current, previous, makeSecret()].map((secret) => accepted(headers, secret))).toEqual([
      true,
      true,
      false,
    ])
  }
})
