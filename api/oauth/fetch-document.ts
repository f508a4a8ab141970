/** The provider's `fetch`, through the service's egress: a client's URL can't reach the operator's network. */
import type { Egress } from '../../platform/egress/egress.ts'

const bounds = { timeoutMs: 2500, maxBytes: 64 * 1024, maxRedirects: 0 }

/** A `fetch` for GET requests, as the provider calls it. @throws Error when the fetch fails */
export function fetchBy(egress: Pick<Egress, 'fetch'>) {
  return async (url: string | URL, options?: { method?: string; headers?: unknown }): Promise<Response> => {
    if ((options?.method ?? 'GET') !== 'GET') throw new Error('only GET is supported')
    const request = { ...bounds, url: String(url), headers: { accept: 'application/json' } }
    const fetched = await egress.fetch(request, async ({ status, headers, body }) => {
      const chunks: Buffer[] = []
      for await (const chunk of body) chunks.push(chunk as Buffer)
      const kept = ['content-type', 'cache-control', 'expires'].flatMap((name): [string, string][] =>
        headers[name] === undefined ? [] : [[name, headers[name]]],
      )
      const empty = status === 204 || status === 304
      return new Response(empty ? null : Buffer.concat(chunks), { status, headers: kept })
    })
    if (fetched.outcome !== 'received') throw new Error(fetched.error)
    return fetched.value
  }
}
