import type { Readable } from 'node:stream'
import { storeUnavailable } from './object-store.ts'

/** Makes the stream of an object fail with `storage_unavailable` when the store fails in the middle of it. */
export function storeBody<Body extends Readable>(body: Body): Body {
  const destroy = body.destroy.bind(body)
  body.destroy = (error) => destroy(error && storeUnavailable(error))
  return body
}
