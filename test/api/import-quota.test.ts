/** An import to a board whose owner's storage of documents is full. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { serves } from '../support/site.ts'
import { listCards, makeBoard, makeCards } from './board.ts'
import { html, importsOfFile } from './importing.ts'

const quota = 300_000
const { service, at, run } = await importsOfFile({ documentBytes: { free: quota, pro: quota } })

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
  await service.compactor.compact(board.id)
  // A write is refused by a figure that may be a quarter of a second old.
  await sleep(300)
  const second = await run(board.id, items, {}, owner)
  expect(codes(second)).toEqual([...Array(created).fill('existing'), ...Array(6 - created).fill('created')])
})
