import { Pool } from 'undici'
import { png } from '../../support/site.ts'
import type { ApiAddress, ApiRequest } from './jobs.ts'

const differentBodies = 64

/** A client of the card API over keep-alive connections, each with one request in flight. */
export class ApiClient {
  private readonly pool: Pool
  private readonly basePath: string
  private readonly headers: Record<string, string>

  constructor(api: ApiAddress, connections: number) {
    const root = new URL(api.root)
    this.pool = new Pool(root.origin, { connections, pipelining: 1 })
    this.basePath = root.pathname.replace(/\/$/, '')
    this.headers = { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' }
  }

  /** Throws unless the answer is 200, 201 or 304. */
  async send(request: ApiRequest, turn: number): Promise<void> {
    const { statusCode, body } = await this.pool.request({
      method: request.method,
      path: this.basePath + request.path,
      headers: {
        ...this.headers,
        ...(request.image ? { 'content-type': 'image/png' } : {}),
        ...request.headers,
      },
      body: bodyOf(request, turn),
    })
    if (statusCode === 200 || statusCode === 201 || statusCode === 304) return drain(body)
    throw new Error(`${request.method} ${request.path} answered ${statusCode}: ${await body.text()}`)
  }

  async close(): Promise<void> {
    await this.pool.destroy()
  }
}

async function drain(body: AsyncIterable<Buffer>): Promise<void> {
  for await (const chunk of body) void chunk
}

function bodyOf({ body, image, cards }: ApiRequest, turn: number): string | Buffer | null {
  if (image !== undefined) return imageOf(image)
  return body ?? (cards === 0 ? null : cardsBody(cards, turn))
}

const images = new Map<number, Buffer>()

function imageOf(bytes: number): Buffer {
  const made = images.get(bytes) ?? Buffer.concat([png(400, 300), Buffer.alloc(bytes)], bytes)
  images.set(bytes, made)
  return made
}

const bodies = new Map<number, Buffer[]>()

/** Bodies are made once and sent in turn, because serializing 1,000 cards takes as long as inserting some of them. */
function cardsBody(cards: number, turn: number): Buffer {
  let made = bodies.get(cards)
  if (!made) {
    made = Array.from({ length: differentBodies }, (_, index) => {
      const all = Array.from({ length: cards }, (_, card) => positionedCard(index * cards + card))
      return Buffer.from(JSON.stringify(cards === 1 ? all[0] : { cards: all }))
    })
    bodies.set(cards, made)
  }
  return made[turn % differentBodies]!
}

function positionedCard(index: number): Record<string, unknown> {
  return {
    kind: 'note',
    title: `Scene ${index}`,
    body: 'Exterior, dusk. The crew waits for the rain to stop.',
    x: (index % 100) * 300,
    y: Math.floor(index / 100) * 200,
    w: 280,
    h: 180,
  }
}
