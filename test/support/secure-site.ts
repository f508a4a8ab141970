/** A web site on loopback with https, for OAuth clients that are identified by a metadata document. */
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

export interface SecureSite {
  /** `https://127.0.0.1:port` */
  url: string
  /** Certificate that readers of the site must trust. */
  certificate: string
  pages: Map<string, (request: IncomingMessage, response: ServerResponse) => void>
  seen: string[]
  /** Adds a client's document. Returns the client's id, which is the document's URL. */
  describe(path: string, metadata: object): string
  close(): Promise<void>
}

export async function openSecureSite(): Promise<SecureSite> {
  const file = (name: string) => readFile(new URL(`tls/${name}`, import.meta.url), 'utf8')
  const [cert, key] = await Promise.all([file('certificate.pem'), file('key.pem')])
  const pages: SecureSite['pages'] = new Map()
  const seen: string[] = []
  const server = createServer({ cert, key }, (request, response) => {
    seen.push(request.url!)
    const page = pages.get(request.url!)
    if (page) page(request, response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    certificate: cert,
    pages,
    seen,
    describe(path, metadata) {
      const id = url + path
      const text = JSON.stringify({ client_id: id, ...metadata })
      pages.set(path, (_request, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(text),
      )
      return id
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
