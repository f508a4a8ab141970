import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { png } from '../../support/site.ts'
import type { CardServer, Measure } from '../bench.ts'
import { rowOf, type Compared } from '../compare.ts'
import { formatNumber } from '../table.ts'

const cards = 10_000
const cardsPerRequest = 1000
const cardsPerPage = 500
const items = 100
const imageBytes = 50 * 1024
const atOnce = 8

/** Export of a whole board and import of many images in one request, compared with the requests that they replace. */
export const exchange: Measure = {
  name: 'exchange',
  summary: 'export of 10,000 cards against its pages, import of 100 images against uploads and a create',
  needsCorkboard: true,
  async run(bench) {
    const corkboard = await bench.corkboard()
    const site = await openImages()
    const exported: Compared<number> = { subject: [], reference: [] }
    const imported: Compared<number> = { subject: [], reference: [] }
    try {
      const [board] = (await corkboard.createBoards(1)) as [string]
      for (let sent = 0; sent < cards; sent += cardsPerRequest)
        await call(corkboard, 'POST', `/boards/${board}/cards`, { cards: newCards(sent) })
      for (let run = 0; run < bench.runs; run += 1) {
        exported.subject.push(await timed(() => call(corkboard, 'GET', `/boards/${board}/export`)))
        exported.reference.push(
          await timed(async () => {
            for (let offset = 0; offset < cards; offset += cardsPerPage)
              await call(
                corkboard,
                'GET',
                `/boards/${board}/cards?limit=${cardsPerPage}&offset=${offset}&include=props,identifiers,raw`,
              )
          }),
        )
        const [target, other] = (await corkboard.createBoards(2)) as [string, string]
        imported.subject.push(
          await timed(async () => {
            const answer = await call(corkboard, 'POST', `/boards/${target}/import`, {
              items: Array.from({ length: items }, (_, n) => ({ url: `${site.url}/${n}` })),
            })
            if ((answer as { created: number }).created !== items) throw new Error('not all were imported')
          }),
        )
        imported.reference.push(await timed(() => uploadAll(corkboard, other, site.image)))
        bench.progress(
          `exchange, run ${run + 1} of ${bench.runs}: export ${formatNumber(exported.subject[run]!)} ms, by pages ${formatNumber(exported.reference[run]!)} ms; import ${formatNumber(imported.subject[run]!)} ms, by uploads ${formatNumber(imported.reference[run]!)} ms`,
        )
      }
    } finally {
      await site.close()
    }
    return [
      rowOf(exported, (ms) => ms, {
        name: `export of ${formatNumber(cards)} cards`,
        unit: 'ms',
        referenceName: `${cards / cardsPerPage} pages of ${cardsPerPage}`,
        target: { atMost: 1 },
      }),
      rowOf(imported, (ms) => ms, {
        name: `import of ${items} images`,
        unit: 'ms',
        referenceName: `${items} uploads, 1 POST`,
        target: { atMost: 1.5 },
      }),
    ]
  },
}

async function openImages() {
  const image = Buffer.concat([png(400, 300), Buffer.alloc(imageBytes)])
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'image/png' }).end(image),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    image,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

async function uploadAll(corkboard: CardServer, board: string, image: Buffer): Promise<void> {
  const keys: string[] = []
  const one = async () => {
    const stored = await call(corkboard, 'POST', `/uploads?board=${board}`, image)
    keys.push((stored as { image_key: string }).image_key)
  }
  for (let sent = 0; sent < items; sent += atOnce)
    await Promise.all(Array.from({ length: Math.min(atOnce, items - sent) }, one))
  await call(corkboard, 'POST', `/boards/${board}/cards`, {
    layout: 'justified',
    cards: keys.map((image_key) => ({ kind: 'image', image_key, w: 400, h: 300 })),
  })
}

function newCards(from: number): object[] {
  return Array.from({ length: cardsPerRequest }, (_, k) => {
    const n = from + k
    const [x, y] = [(n % 100) * 300, Math.floor(n / 100) * 200]
    return { kind: 'note', title: `Card ${n}`, body: 'Some words on a card. '.repeat(10), props: { n }, x, y }
  })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}

async function call(
  { api }: CardServer,
  method: string,
  path: string,
  body?: object | Buffer,
): Promise<unknown> {
  const bytes = body instanceof Buffer
  const response = await fetch(api.root + path, {
    method,
    headers: {
      authorization: `Bearer ${api.token}`,
      ...(body === undefined ? {} : { 'content-type': bytes ? 'image/png' : 'application/json' }),
    },
    ...(body === undefined ? {} : { body: bytes ? new Uint8Array(body) : JSON.stringify(body) }),
  })
  const answer: unknown = await response.json()
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`)
  return answer
}
