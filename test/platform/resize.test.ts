import { Readable } from 'node:stream'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { openResizer, type ResizeRequest } from '../../platform/images/resize.ts'

const bounds = { pixels: 1e6, seconds: 10, atOnce: 2, atOncePerAccount: 1, waiting: 8, waitingPerAccount: 4 }
const image = await sharp({ create: { width: 400, height: 300, channels: 3, background: 'teal' } })
  .png()
  .toBuffer()

function request(key: string, account: string, bytes: Buffer = image) {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const counts = { opened: 0, kept: 0 }
  const asked: ResizeRequest = {
    ...{ key, account, width: 160, format: 'webp' },
    async open() {
      counts.opened += 1
      await gate
      return Readable.from([bytes])
    },
    async keep() {
      counts.kept += 1
    },
  }
  return { asked, open, counts }
}

test('[FR31] a workspace whose images take long delays no other, and its own wait is bounded', async () => {
  const resizer = openResizer(bounds)
  const slow = Array.from({ length: 6 }, (_, at) => request(`slow-${at}`, 'a'))
  const asked = slow.slice(0, 5).map((one) => resizer.resize(one.asked))
  await expect(resizer.resize(slow[5]!.asked)).rejects.toMatchObject({ code: 'storage_unavailable' })
  const other = request('other', 'b')
  other.open()
  expect((await sharp((await resizer.resize(other.asked))!).metadata()).width).toBe(160)
  expect(slow.map(({ counts }) => counts.opened)).toEqual([1, 0, 0, 0, 0, 0])
  for (const { open } of slow) open()
  expect((await Promise.all(asked)).every((made) => made !== null)).toBe(true)
})

test('[FR31] the same picture is made and kept once for all who wait', async () => {
  const resizer = openResizer(bounds)
  const { asked, open, counts } = request('same', 'a')
  const all = Array.from({ length: 20 }, () => resizer.resize(asked))
  open()
  const made = await Promise.all(all)
  expect(made.every((one) => one!.equals(made[0]!))).toBe(true)
  expect(counts).toEqual({ opened: 1, kept: 1 })
})

test('[FR31] an image that cannot be decoded is opened once', async () => {
  const resizer = openResizer(bounds)
  const { asked, open, counts } = request('broken', 'a', image.subarray(0, image.length / 2))
  open()
  for (const width of [160, 320, 640, 160])
    expect(await resizer.resize({ ...asked, width: width as 160 })).toBeNull()
  expect(counts).toEqual({ opened: 1, kept: 0 })
})
