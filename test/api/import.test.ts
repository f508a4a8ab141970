/** What an import makes of what is at its URLs, and of the board it comes to. */
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { png, serves, type Serve } from '../support/site.ts'
import { listCards, makeBoard, makeCard, nowhere } from './board.ts'
import { html, importsOfFile } from './importing.ts'

const { service, site, user, at, run } = await importsOfFile()

const mp4 = Buffer.concat([
  Buffer.from('00000018667479706d703432000000006d703432697 36f6d'.replaceAll(' ', ''), 'hex'),
  Buffer.alloc(64),
])
const mp3 = Buffer.concat([
  Buffer.from('4944330400000000000a', 'hex'),
  Buffer.alloc(10),
  Buffer.from('fffb9064', 'hex'),
  Buffer.alloc(500),
])
const pdf = Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF\n')
test('[IM1] what is at a URL decides the kind, not its name and not its declared type', async () => {
  const board = await makeBoard(user)
  const urls = [
    at(serves(png(640, 480), 'text/html'), 'page.html'),
    at(serves(mp4, 'image/png'), 'picture.png'),
    at(serves(mp3), 'sound'),
    at(serves(pdf, 'text/plain'), 'a%20paper.pdf'),
    at(serves(html('<title>A page</title>'), 'image/png'), 'picture2.png'),
    at(serves(Buffer.from('a,b\n1,2\n'), 'text/csv'), 'table.csv'),
    at(serves(Buffer.from([0, 1, 2, 3]), 'video/mp4'), 'film.mp4'),
    at(
      serves('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', 'image/svg+xml'),
      'x.svg',
    ),
  ]
  const body = await run(
    board.id,
    urls.map((url) => ({ url })),
  )
  expect(body.results.map(({ error }: any) => error)).toEqual(Array(8).fill(null))
  expect(body.cards.map(({ kind }: any) => kind)).toEqual([
    'image',
    'video',
    'audio',
    'pdf',
    'link',
    'file',
    'file',
    'file',
  ])
  expect(body).toMatchObject({
    board_id: board.id,
    layout: 'justified',
    dry_run: false,
    created: 8,
    existing: 0,
    failed: 0,
    live: true,
  })
  expect(body.cards.map(({ url }: any) => url)).toEqual(urls)
  expect(body.results.map(({ card_id }: any) => card_id)).toEqual(body.cards.map(({ id }: any) => id))
  const [image, video, , paper, link, table, bytes, svg] = body.cards
  expect(image).toMatchObject({ image_key: expect.stringMatching(/\.png$/) })
  expect(image.file_key).toBeUndefined()
  expect(video).toMatchObject({
    file_key: expect.stringMatching(/\.mp4$/),
    mime: 'video/mp4',
    size_bytes: mp4.length,
  })
  expect(paper).toMatchObject({ file_name: 'a paper.pdf', ext: 'pdf', mime: 'application/pdf' })
  expect(link).toMatchObject({ title: 'A page', image_key: null })
  expect(table).toMatchObject({ mime: 'text/csv', file_name: 'table.csv' })
  expect(bytes).toMatchObject({ mime: 'application/octet-stream' })
  // What is stored is read back to the byte, and nothing of it is run.
  const read = async (key: string) =>
    fetch(`${service.url}/api/v1/images/${key}`, { headers: { authorization: `Bearer ${user.token}` } })
  expect(Buffer.from(await (await read(image.image_key)).arrayBuffer()).equals(png(640, 480))).toBe(true)
  expect(Buffer.from(await (await read(video.file_key)).arrayBuffer()).equals(mp4)).toBe(true)
  expect((await read(svg.file_key)).headers.get('content-type')).toBe('application/octet-stream')
  const images =
    await service.admin`select image_key, width, height, bytes from images where board_id = ${board.id}`
  expect(images).toHaveLength(7)
  expect(images.find(({ image_key }) => image_key === image.image_key)).toMatchObject({
    width: 640,
    height: 480,
  })
})

test('[IM2] an image card has the size of its image, within the limits of cards, its proportions kept', async () => {
  const board = await makeBoard(user)
  const sizes = [
    [640, 480],
    [8000, 4000],
    [20, 10],
    [10_000, 10],
  ] as const
  const placed = { x: 0, y: 0 }
  const body = await run(board.id, [
    ...sizes.map(([w, h], n) => ({ url: at(serves(png(w, h))), ...placed, y: n * 5000 })),
    { url: at(serves(png(400, 200))), ...placed, w: 100 },
    { url: at(serves(png(400, 200))), ...placed, h: 300 },
    { url: at(serves(png(400, 200))), ...placed, w: 10, h: 9000 },
  ])
  expect(body.cards.map(({ w, h }: any) => [w, h])).toEqual([
    [640, 480],
    [4000, 2000],
    [80, 40],
    [4000, 40],
    [100, 50],
    [600, 300],
    [40, 4000],
  ])
})

test('[IM3] a page becomes a link with the title and description of its head, in whatever encoding', async () => {
  const board = await makeBoard(user)
  const pages: [string | Buffer, string, Record<string, string>, (string | null)[]][] = [
    [
      html('<title> Plain &amp;\n simple </title><meta name="Description" content="What it &lt;is&gt;">'),
      'text/html',
      {},
      ['Plain & simple', 'What it <is>'],
    ],
    [
      html(
        '<title>x</title><meta property="og:title" content="Shared"><meta property="og:description" content="As shared">',
      ),
      'text/html',
      {},
      ['Shared', 'As shared'],
    ],
    [
      Buffer.from(html('<title>Zürich</title>'), 'latin1'),
      'text/html; charset=ISO-8859-1',
      {},
      ['Zürich', null],
    ],
    [
      Buffer.from(html('<meta charset="iso-8859-1"><title>Genève</title>'), 'latin1'),
      'text/html',
      {},
      ['Genève', null],
    ],
    [
      Buffer.from([...Buffer.from(html('<meta charset=shift_jis><title>')), 0x93, 0xfa, 0x96, 0x7b]),
      'text/html',
      {},
      [null, null],
    ],
    [
      Buffer.concat([
        Buffer.from('<html><meta charset=shift_jis><title>'),
        Buffer.from([0x93, 0xfa, 0x96, 0x7b]),
        Buffer.from('</title>'),
      ]),
      'text/html',
      {},
      ['日本', null],
    ],
    [
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(html('<title>Sixteen</title>'), 'utf16le')]),
      'text/html',
      {},
      ['Sixteen', null],
    ],
    [Buffer.from(html('<title>Café</title>'), 'latin1'), 'text/html', {}, ['Café', null]],
    [html('<meta charset="no-such-charset"><title>Ümlaut</title>'), 'text/html', {}, ['Ümlaut', null]],
    [gzipSync(html('<title>Zipped</title>')), 'text/html', { 'content-encoding': 'gzip' }, ['Zipped', null]],
    [
      brotliCompressSync(html('<title>Brotli</title>')),
      'text/html',
      { 'content-encoding': 'br' },
      ['Brotli', null],
    ],
    [
      html(`<title>${'t'.repeat(5000)}</title><meta name=description content="${'d'.repeat(30_000)}">`),
      'text/html',
      {},
      ['t'.repeat(300), 'd'.repeat(20_000)],
    ],
    [
      html('<title></title><title>Second</title><script><title>No</title></script>'),
      'text/html',
      {},
      ['Second', null],
    ],
    [html('<title>One</title>') + ' '.repeat(3 * 1024 * 1024), 'text/html', {}, ['One', null]],
    ['just words', 'text/html', {}, [null, null]],
    [
      `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title></head></html>`,
      'application/xhtml+xml',
      {},
      ['X', null],
    ],
    [`<html><head><title>Nested</title>${'<b>'.repeat(300_000)}`, 'text/html', {}, ['Nested', null]],
  ]
  const body = await run(
    board.id,
    pages.map(([content, type, headers]) => ({ url: at(serves(content, type, headers)) })),
  )
  expect(body.results.map(({ error }: any) => error)).toEqual(pages.map(() => null))
  expect(body.cards.map(({ kind }: any) => kind)).toEqual(pages.map(() => 'link'))
  expect(body.cards.map(({ title, body }: any) => [title, body])).toEqual(pages.map(([, , , found]) => found))
})

test('[IM4] what the client says of an item goes before what is found', async () => {
  const board = await makeBoard(user)
  const page = at(serves(html('<title>Found</title><meta name=description content=Found>'), 'text/html'))
  const identifiers = [{ scope: 'shot', value: '1' }]
  const { cards } = await run(board.id, [
    {
      url: page,
      title: 'Given',
      caption: 'Said',
      props: { a: { b: 1 } },
      identifiers,
      x: 700,
      y: -20,
      w: 300,
      h: 90,
    },
  ])
  expect(cards[0]).toMatchObject({
    kind: 'link',
    url: page,
    title: 'Given',
    body: 'Said',
    props: { a: { b: 1 } },
    identifiers,
    x: 700,
    y: -20,
    w: 300,
    h: 90,
  })
})

test('[IM17] a file has no title unless one is given; its name is in file_name, images have none', async () => {
  const board = await makeBoard(user)
  const { cards } = await run(board.id, [
    { url: at(serves(png(40, 40)), 'harbour.png'), caption: 'At dusk' },
    { url: at(serves(pdf), 'a%20paper.pdf') },
    { url: at(serves(pdf), 'other.pdf'), title: 'Given' },
  ])
  expect(cards.map(({ title, file_name, body }: any) => [title, file_name, body])).toEqual([
    [null, undefined, 'At dusk'],
    [null, 'a paper.pdf', null],
    ['Given', 'other.pdf', null],
  ])
  const { body } = await user.api.get('/openapi.json')
  const { title } = (body as any).components.schemas.ImportItem.properties
  expect(title.description).toMatch(/the title of the page, null for a file\./)
})

test('[IM5] items without a place are laid out, justified unless said otherwise, beside what is there', async () => {
  const board = await makeBoard(user)
  await makeCard(user, board.id, { x: 0, y: 0 })
  const items = () => Array.from({ length: 6 }, (_, n) => ({ url: at(serves(png(300 + n * 50, 300))) }))
  const first = await run(board.id, [...items(), { url: at(serves(png(50, 50))), x: 3000, y: 3000 }])
  expect(first.layout).toBe('justified')
  expect(first.cards[6]).toMatchObject({ x: 3000, y: 3000, w: 50, h: 50 })
  const second = await run(board.id, items(), { layout: 'row' })
  expect(second.layout).toBe('row')
  expect(new Set(second.cards.map(({ y }: any) => y)).size).toBe(1)
  const all = await listCards(user, board.id)
  expect(all).toHaveLength(14)
  for (const [n, a] of all.entries())
    for (const b of all.slice(n + 1))
      expect(
        a['x'] < b['x'] + b['w'] &&
          b['x'] < a['x'] + a['w'] &&
          a['y'] < b['y'] + b['h'] &&
          b['y'] < a['y'] + a['h'],
      ).toBe(false)
})

test('[IM6] run again, nothing is fetched or doubled: a source or an identifier that is on the board is existing', async () => {
  const board = await makeBoard(user)
  const [one, two, three] = [at(serves(png(10, 10))), at(serves('x')), at(serves('y'))]
  const identifiers = [{ scope: 'asset', value: '7' }]
  const first = await run(board.id, [{ url: one }, { url: two, identifiers }])
  const before = site.requests.length
  const again = await run(board.id, [
    { url: one.replace('http://', 'HTTP://') },
    { url: two },
    { url: `${three}?never`, identifiers },
  ])
  expect(again).toMatchObject({ created: 0, existing: 3, failed: 0, cards: [] })
  expect(again.results.map(({ status }: any) => status)).toEqual(['existing', 'existing', 'existing'])
  const ids = first.cards.map(({ id }: any) => id)
  expect(again.results.map(({ card_id }: any) => card_id)).toEqual([ids[0], ids[1], ids[1]])
  expect(site.requests.length).toBe(before)
  expect(await listCards(user, board.id)).toHaveLength(2)
  // The same thing twice in one call makes one card.
  const twice = await run(board.id, [{ url: three }, { url: three }])
  expect(twice.results.map(({ status }: any) => status)).toEqual(['created', 'existing'])
  expect(twice.results[0].card_id).toBe(twice.results[1].card_id)
  // What failed before is tried again.
  const late = `${site.url}/comes-later`
  expect((await run(board.id, [{ url: late }])).failed).toBe(1)
  site.pages.set('/comes-later', serves('here'))
  expect((await run(board.id, [{ url: late }, { url: one }])).created).toBe(1)
})

test('[IM6] the same import five times at once makes each card once', async () => {
  const board = await makeBoard(user)
  const items = Array.from({ length: 5 }, () => ({ url: at(serves(png(30, 30))) }))
  const answers = await Promise.all(Array.from({ length: 5 }, () => run(board.id, items)))
  expect(answers.reduce((sum, { created }) => sum + created, 0)).toBe(5)
  expect(answers.map(({ failed }) => failed)).toEqual([0, 0, 0, 0, 0])
  expect(await listCards(user, board.id)).toHaveLength(5)
})

test('[IM7] a dry run tells what would be, fetches nothing and creates nothing', async () => {
  const board = await makeBoard(user)
  const there = at(serves('x'))
  await run(board.id, [{ url: there }])
  const before = site.requests.length
  const body = await run(
    board.id,
    [
      { url: there },
      { url: at(serves('y')) },
      { url: 'https://10.0.0.1/' },
      { url: 'https://inside.example/' },
    ],
    { dry_run: true, layout: 'grid' },
  )
  expect(body).toMatchObject({ dry_run: true, layout: 'grid', created: 0, existing: 1, failed: 2, cards: [] })
  expect(body.results.map(({ status, code }: any) => [status, code])).toEqual([
    ['existing', null],
    ['valid', null],
    ['failed', 'bad_request'],
    ['failed', 'bad_request'],
  ])
  expect(site.requests.length).toBe(before)
  expect(await listCards(user, board.id)).toHaveLength(1)
})

test('[IM13] 100 items are fetched several at a time and land in their order', async () => {
  const other = await service.user()
  const board = await makeBoard(other)
  // The first is answered when another has been asked for.
  const { promise: another, resolve: isAsked } = Promise.withResolvers<void>()
  const items = Array.from({ length: 100 }, (_, n) => {
    const serve = serves(png(100 + n, 100))
    const first: Serve = (...asked) => void another.then(() => serve(...asked))
    const later: Serve = (...asked) => {
      isAsked()
      serve(...asked)
    }
    return { url: at(n === 0 ? first : later), title: `Item ${n}` }
  })
  const body = await run(board.id, items, {}, other)
  expect(body.created).toBe(100)
  expect(body.cards.map(({ title }: any) => title)).toEqual(items.map(({ title }) => title))
  expect(site.mostAtOnce()).toBeGreaterThan(1)
  expect(site.mostAtOnce()).toBeLessThanOrEqual(8)
  const [event] = await service.admin`
    select count(*)::int as operations from (select distinct created_at from card_index where board_id = ${board.id}) d`
  expect(event!['operations']).toBe(1)
}, 30_000)

test('[IM16] items with and without a place are created in one change, with one event', async () => {
  const board = await makeBoard(user)
  const places = [{ x: 0, y: 0 }, {}, { x: 500, y: 0 }, {}, { x: 40 }]
  const items = places.map((place) => ({ url: at(serves(png(300, 300))), ...place }))
  const body = await run(board.id, items)
  expect(body.cards.map(({ x, y }: any) => [x, y])).toMatchObject({ 0: [0, 0], 2: [500, 0] })
  const ids = body.cards.map(({ id }: any) => id)
  expect(
    await service.admin`select card_ids from events where board_id = ${board.id} and type = 'card.created'`,
  ).toEqual([{ card_ids: ids }])
  const boxes: { x: number; y: number; w: number; h: number }[] = body.cards
  for (const [n, a] of boxes.entries())
    for (const b of boxes.slice(n + 1))
      expect(a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h).toBe(false)
})

test('[IM15] bad input is 400 that names the item, and nothing happens', async () => {
  const board = await makeBoard(user)
  const good = { url: at(serves('x')) }
  const bodies: [unknown, string][] = [
    [{}, 'items'],
    [{ items: [] }, 'items'],
    [{ items: Array.from({ length: 101 }, () => good) }, 'items'],
    [{ items: 'x' }, 'items'],
    [{ items: [good, {}] }, 'url'],
    [{ items: [good, { url: 7 }] }, 'items'],
    [{ items: [good, { url: 'no url' }] }, 'items[1].url'],
    [{ items: [good, { url: 'ftp://example.com/' }] }, 'items[1].url'],
    [{ items: [good, { url: 'mailto:a@example.com' }] }, 'items[1].url'],
    [{ items: [good, { url: `https://example.com/${'x'.repeat(2000)}` }] }, 'url'],
    [{ items: [{ ...good, title: 'x'.repeat(301) }] }, 'title'],
    [{ items: [{ ...good, caption: 'x'.repeat(20_001) }] }, 'caption'],
    [{ items: [{ ...good, props: { a: { b: { c: { d: { e: { f: 1 } } } } } } }] }, 'items[0].props'],
    [{ items: [{ ...good, identifiers: [{ scope: 's' }] }] }, 'identifiers'],
    [{ items: [{ ...good, x: 'left' }] }, 'x'],
    [{ items: [{ ...good, y: 1e7 }] }, 'y'],
    [{ items: [good], layout: 'spiral' }, 'layout'],
    [{ items: [good], dry_run: 'yes' }, 'dry_run'],
    ['{"items":', ''],
  ]
  const before = site.requests.length
  for (const [body, named] of bodies) {
    const answer: any = await user.api.post(`/boards/${board.id}/import`, body)
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_request'])
    expect(answer.body.error).toContain(named)
  }
  expect(site.requests.length).toBe(before)
  expect(await listCards(user, board.id)).toEqual([])
  expect((await user.api.post(`/boards/${nowhere}/import`, { items: [good] })).status).toBe(404)
  expect((await service.anonymous.post(`/boards/${board.id}/import`, { items: [good] })).status).toBe(401)
})
