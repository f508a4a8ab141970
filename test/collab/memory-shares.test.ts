/** How accounts share the memory of documents, and what the estimate of one document follows. */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { NoMemory } from '../../collab/commit/refusal.ts'
import { DocumentMemory, type Payer } from '../../collab/documents/memory.ts'
import { clearLater, cleared } from '../../collab/updates/clear.ts'
import { limitCleanup } from '../../collab/updates/cleanup.ts'
import { weigh } from '../../collab/updates/weight.ts'
import { setPayer } from '../../platform/work/payers.ts'
import { mainThreadMs } from '../support/cpu-time.ts'

const million = 1_000_000

function memoryOf(totalBytes: number, accountBytes: number) {
  const memory = new DocumentMemory({ totalBytes, accountBytes: { free: accountBytes, pro: accountBytes } })
  const open = (account: string, kind: Payer['kind'] = 'live') => {
    const document = new Y.Doc()
    memory.count(document, { account, isPro: true, kind })
    return document
  }
  const grow = (document: Y.Doc, bytes: number) => {
    document.getText('text').insert(0, 'x'.repeat(bytes / 2))
    memory.recount()
  }
  const opened = (account: string, bytes: number, kind?: Payer['kind']) => {
    const document = open(account, kind)
    grow(document, bytes)
    return document
  }
  return { memory, open, grow, opened }
}

test('[X68] when memory is short, an account takes no more than its part, and nobody anything beyond the ceiling', () => {
  const { memory, opened, grow } = memoryOf(10 * million, 9 * million)
  const large = opened('one', 6 * million)
  const middle = opened('two', 3 * million)
  const small = opened('three', million / 2)
  expect([large, middle, small].map((document) => memory.hasRoom(document))).toEqual([true, true, true])
  grow(small, million)
  expect([large, middle, small].map((document) => memory.hasRoom(document))).toEqual([false, true, true])
  expect(memory.opening(large)).toThrow(NoMemory)
  grow(middle, million)
  grow(small, 1.2 * million)
  expect(memory.totalBytes).toBeGreaterThan(12.5 * million)
  expect([large, middle, small].map((document) => memory.hasRoom(document))).toEqual([false, false, false])
  large.destroy()
  expect([middle, small].map((document) => memory.hasRoom(document))).toEqual([true, true])
})

test('[X68] copies of an account do not close its editors when memory is short', () => {
  const { memory, opened } = memoryOf(10 * million, 9 * million)
  const live = opened('one', 2 * million)
  const copy = opened('one', 4 * million, 'copies')
  opened('two', 5 * million)
  expect([memory.hasRoom(live), memory.hasRoom(copy)]).toEqual([true, false])
})

test('[X115] opening a document costs little however many there are', () => {
  const { memory, open } = memoryOf(1e12, 1e12)
  for (let n = 0; n < 20_000; n++) open(`account ${n % 100}`)
  const document = open('one')
  const openAll = () => {
    for (let n = 0; n < 50; n++) memory.opening(document)()
  }
  expect(mainThreadMs(openAll)).toBeLessThan(60)
})

test('[X116] copies of users of sessions count for the account that pays for them', () => {
  const { memory, opened, open } = memoryOf(100 * million, 10 * million)
  setPayer('user 1', 'owner')
  setPayer('user 2', 'owner')
  opened('user 1', 12 * million, 'copies')
  opened('owner', 2 * million, 'copies')
  expect(memory.opening(open('user 2', 'copies'))).toThrow(NoMemory)
  expect(memory.opening(open('another', 'copies'))).not.toThrow()
})

test('[X68] of boards that are opened at once, one may take what is free', () => {
  const { memory, open, grow } = memoryOf(100 * million, million)
  const documents = [open('one'), open('one'), open('one')]
  const requireRoom = documents.map((document) => memory.opening(document))
  for (const document of documents) grow(document, million)
  expect(requireRoom[0]).not.toThrow()
  expect(requireRoom[1]).toThrow(NoMemory)
  expect(requireRoom[2]).toThrow(NoMemory)
  for (const document of documents) document.destroy()
  const next = open('one')
  const requireMore = memory.opening(next)
  grow(next, 3 * million)
  expect(requireMore).not.toThrow()
})

test('[X68] what others commit has more room than what is opened, and what does not grow is never refused', () => {
  const { memory, open, opened, grow } = memoryOf(100 * million, million)
  const watched = opened('one', million / 2)
  const other = open('one')
  const requireRoom = memory.opening(other)
  grow(other, 0.8 * million)
  expect(requireRoom).toThrow(NoMemory)
  const follows = memory.following(watched)
  expect(follows).not.toThrow()
  grow(watched, 0.1 * million)
  expect(follows).not.toThrow()
  grow(watched, 0.2 * million)
  expect(follows).toThrow(NoMemory)
  const unchanged = memory.following(watched)
  watched.getText('text').delete(0, 10)
  expect(unchanged).not.toThrow()
})

test('[X68] a document that leaves does not count, unless it stays', async () => {
  const { memory, opened } = memoryOf(100 * million, million)
  const [large, small] = [opened('one', 2 * million), opened('one', 1000)]
  expect(memory.hasRoom(small)).toBe(false)
  memory.leaves(large)
  memory.recount()
  expect(memory.hasRoom(small)).toBe(true)
  memory.stays(large)
  memory.recount()
  expect(memory.hasRoom(small)).toBe(false)
})

test('[X63] the estimate is corrected after deletions that Yjs merges, and after texts are split', async () => {
  const [maps, letters] = [20_000, 100_000]
  const document = new Y.Doc()
  limitCleanup(document)
  clearLater(document)
  const weight = weigh(document)
  const list = document.getArray('list')
  list.push(Array.from({ length: maps }, () => new Y.Map()))
  weight.correct()
  expect(weight.structs).toBe(maps)
  list.delete(0, maps)
  await cleared(document)
  weight.correct()
  expect(weight.bytes).toBeLessThan(10_000)

  const text = document.getText('text')
  text.insert(0, 'x'.repeat(letters))
  weight.correct()
  const before = weight.structs
  document.transact(() => {
    for (let at = letters - 2; at > 0; at -= 10) text.delete(at, 1)
  })
  await cleared(document)
  weight.correct()
  expect(weight.structs).toBeGreaterThan(before + letters / 10)
})
