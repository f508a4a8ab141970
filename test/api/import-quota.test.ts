/** Imports to boards whose owner reaches a limit: cards, files, or documents. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { until } from '../support/editor.ts'
import { png, serves } from '../support/site.ts'
import { listCards, makeBoard, makeCards, succeeded } from './board.ts'
import { html, importsOfFile } from './importing.ts'

const quota = 300_000
const { service, site, at, run } = await importsOfFile({ documentBytes: { free: quota, pro: quota } })

test('[IM14] a cap that is reached midway fails the items after it, and they are not fetched', async () => {
  const free = await service.user({ tier: 'free' })
  const board = await makeBoard(free)
  await makeCards(
    free,
    board.id,
    Array.from({ length: 97 }, () => ({})),
  )
  const urls = Array.from({ length: 8 }, (_, n) => (n === 1 ? `${site.url}/missing` : at(serves(png(9, 9)))))
  const before = site.requests.length
  const body = await run(
    board.id,
    urls.map((url) => ({ url })),
    {},
    free,
  )
  expect(body.results.map(({ status, code }: any) => code ?? status)).toEqual([
    'created',
    'upstream_rejected',
    'created',
    'created',
    ...Array(4).fill('limit_reached'),
  ])
  expect(site.requests.length - before).toBe(4)
  expect(await service.admin`select from images where board_id = ${board.id}`).toHaveLength(3)
  const dry = await run(board.id, [{ url: at(serves('x')) }], { dry_run: true }, free)
  expect(dry.results[0].code).toBe('limit_reached')
})

test('[IM14] a quota that is reached midway fails the items after it', async () => {
  const small = await service.user({ tier: 'free' })
  const board = await makeBoard(small)
  const { storage } = succeeded(await small.api.get('/me'))
  await service.admin`
    insert into images (image_key, workspace_id, board_id, content_type, bytes, created_by)
    values ('ffull', ${board['workspace_id']}, ${board.id}, 'image/png', ${storage.limit - 150_000}, ${small.userId})`
  const urls = [
    at(serves(Buffer.concat([png(9, 9), Buffer.alloc(1000)]))),
    at(serves(Buffer.concat([png(9, 9), Buffer.alloc(200_000_000 / 10)]))),
    ...Array.from({ length: 20 }, () => at(serves(Buffer.concat([png(9, 9), Buffer.alloc(99_000)])))),
  ]
  const body = await run(
    board.id,
    urls.map((url) => ({ url })),
    {},
    small,
  )
  expect(body.results[0].status).toBe('created')
  expect(body.results[1].code).toBe('limit_reached')
  expect(body.results.at(-1).code).toBe('limit_reached')
  expect(body.failed).toBeGreaterThan(10)
  expect(body.created + body.failed).toBe(22)
})

test('[IM14] items for which the documents have no room fail with `limit_reached`, the others come, and a later run brings the rest', async () => {
  const owner = await service.user()
  const board = await makeBoard(owner)
  const large = 'word '.repeat(4000)
  const kept = await makeCards(
    owner,
    board.id,
    Array.from({ length: 14 }, () => ({ body: large })),
  )
  const items = Array.from({ length: 6 }, (_, n) => ({
    url: at(serves(html(`<title>page ${n}</title>`))),
    body: large.slice(0, 4000),
  }))
  const first = await run(board.id, items, {}, owner)
  const codes = (body: any): string[] => body.results.map(({ status, code }: any) => code ?? status)
  const { created } = first
  expect(created).toBeGreaterThan(0)
  expect(created).toBeLessThan(6)
  expect(codes(first)).toEqual([
    ...Array(created).fill('created'),
    ...Array(6 - created).fill('limit_reached'),
  ])
  expect(await listCards(owner, board.id)).toHaveLength(14 + created)
  const { documents } = (await owner.api.get('/me')).body
  expect(documents.used).toBeLessThanOrEqual(quota)

  const ids = kept.slice(0, 4).map(({ id }) => id)
  await owner.api.delete(`/boards/${board.id}/cards`, { card_ids: ids })
  await service.admin`delete from removed_cards where board_id = ${board.id}`
  // The service may be compacting it, too.
  const logBytes = async () => {
    await service.compactor.compact(board.id)
    const [sizes] = await service.admin`select log_bytes from document_sizes where board_id = ${board.id}`
    return sizes!['log_bytes']
  }
  await until(async () => Number(await logBytes()) === 0, 'the deletions are merged')
  // A write is refused by a figure that may be a quarter of a second old.
  await sleep(300)
  const second = await run(board.id, items, {}, owner)
  expect(codes(second)).toEqual([...Array(created).fill('existing'), ...Array(6 - created).fill('created')])
})
