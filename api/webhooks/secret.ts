import { randomBytes } from 'node:crypto'

/** A secret of 256 random bits, in the format of Standard Webhooks. */
export const makeWebhookSecret = () => `whsec_${randomBytes(32).toString('base64')}`
