/** A team's product with users of its own: what its backend does, by the client library and a service account's token. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { WebSocket } from 'ws'
import { createClient } from '../../client/index.ts'
import { openBoard, type OpenBoard } from '../../client/editor/index.ts'

export const usersPerCustomer = 10

export interface ProductUser {
  id: string
  /** The board of the user's customer. */
  board: string
}

export class Product {
  readonly users = new Map<string, ProductUser>()
  /** The last token that was minted for a user. */
  readonly minted = new Map<string, string>()
  readonly #client
  readonly #url: string

  constructor(url: string, token: string) {
    this.#url = url
    this.#client = createClient({ url, token })
  }

  /** Makes a board for each customer, once, by the product's own ids. */
  async open(workspaceId: string, userCount: number): Promise<void> {
    const customers = Array.from(
      { length: Math.ceil(userCount / usersPerCustomer) },
      (_, n) => `customer-${n}`,
    )
    const answer = await this.#client.request('POST /boards', {
      body: {
        workspace_id: workspaceId,
        on_conflict: 'identifier',
        boards: customers.map((value) => ({ name: value, identifiers: [{ scope: 'product', value }] })),
      },
    })
    if (!('boards' in answer)) throw new Error('a list of boards was asked for')
    for (let n = 0; n < userCount; n++) {
      const board = answer.boards[Math.floor(n / usersPerCustomer)]!.id
      this.users.set(`u-${n}`, { id: `u-${n}`, board })
    }
  }

  get boards(): string[] {
    return [...new Set([...this.users.values()].map(({ board }) => board))]
  }

  /** Answers `GET /boards/{id}/token`, to the users of that board's customer. The cookie says who is signed in. */
  readonly answerToken: RequestListener = (request, response) => void this.#answerToken(request, response)

  async #answerToken({ headers, url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, id = ''] = /user=([\w-]+)/.exec(headers.cookie ?? '') ?? []
    const user = this.users.get(id)
    if (!user || user.board !== url.split('/')[2]) return void response.writeHead(403).end('{}')
    const token = await this.#mint(user)
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ token }))
  }

  async #mint({ id, board }: ProductUser): Promise<string> {
    const body = { board_ids: [board], role: 'editor' as const, user: { id, name: `User ${id}` } }
    const { access_token } = await this.#client.request('POST /sessions', { body })
    this.minted.set(id, access_token)
    return access_token
  }

  /** A user leaves the product: the backend mints nothing more for them, and ends what it has minted. */
  async remove(id: string): Promise<void> {
    this.users.delete(id)
    await this.#client.request('DELETE /sessions', { body: { user_id: id } })
  }

  /** The ids of the users that have left a trace in the histories of all boards. */
  async usersInHistories(): Promise<Set<string>> {
    const found = new Set<string>()
    for (const id of this.boards)
      for await (const { actors } of this.#client.list('GET /boards/{id}/history', { path: { id } }))
        for (const { session_user } of actors) if (session_user) found.add(session_user.id)
    return found
  }

  async usersOn(id: string): Promise<string[]> {
    const { presence } = await this.#client.request('GET /boards/{id}/presence', { path: { id } })
    return presence.flatMap(({ account }) => account.session_user?.id ?? []).toSorted()
  }

  /** Opens the board of a user outside a browser. @param site where the product answers */
  async editorOf({ id, board }: ProductUser, site: string): Promise<OpenBoard> {
    const editor = openBoard({
      url: this.#url,
      board,
      WebSocket,
      token: async () => {
        const answer = await fetch(`${site}/boards/${board}/token`, { headers: { cookie: `user=${id}` } })
        return ((await answer.json()) as { token: string }).token
      },
    })
    await editor.ready
    return editor
  }
}

/** Calls `work` for each item, so many at a time. */
export async function eachOf<T, R>(items: T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let from = 0; from < items.length; from += atOnce)
    results.push(...(await Promise.all(items.slice(from, from + atOnce).map(work))))
  return results
}
