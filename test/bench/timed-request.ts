import type { CardServer } from './bench.ts'

/** Sends a request, and returns the answer with the time it took. Throws unless the status is 2xx. */
export async function send(
  { api }: CardServer,
  method: string,
  path: string,
  body: object,
): Promise<{ ms: number; body: unknown }> {
  const from = performance.now()
  const response = await fetch(api.root + path, {
    method,
    headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer: unknown = await response.json()
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`)
  return { ms: performance.now() - from, body: answer }
}
