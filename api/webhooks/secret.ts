import { randomBytes } from 'node:crypto'

/** Text of the form of Standard Webhooks: 256 random bits. */
export const makeWebhookSecret = () => `whsec_${randomBytes(32).toString('base64')}`
