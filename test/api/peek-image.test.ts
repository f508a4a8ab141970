import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { peekImage } from '../../api/files/peek-image.ts'
import { png, pngOf } from './file.ts'

const sent = (...chunks: Buffer[]) => {
  const body = new PassThrough()
  for (const chunk of chunks) body.write(chunk)
  return body
}

test('[UP1] an image is looked at on its way, and comes out whole, however it is cut', async () => {
  const image = pngOf(300_000)
  for (const size of [1, 7, 4096, 65_536, 300_000]) {
    const chunks: Buffer[] = []
    const most = size < 100 ? 6000 : image.length
    for (let at = 0; at < most; at += size) chunks.push(image.subarray(at, Math.min(at + size, most)))
    const body = sent(...chunks)
    body.end(image.subarray(most))
    const { header, whole } = await peekImage(body)
    expect(header).toEqual({ type: 'image/png', size: { width: 40, height: 30 } })
    expect((await buffer(whole())).equals(image)).toBe(true)
  }
})

test('[UP10] a body that breaks off while it is looked at fails there', async () => {
  const body = sent(png.subarray(0, 20))
  const peeking = peekImage(body)
  body.destroy(new Error('the client is gone'))
  await expect(peeking).rejects.toThrow('the client is gone')
  await expect(peekImage(body)).rejects.toThrow()
})

test('[UP10] a body that breaks off before its reader begins fails there, and nowhere else', async () => {
  const body = sent(pngOf(10_000))
  const whole = (await peekImage(body)).whole()
  body.destroy(new Error('the client is gone'))
  await new Promise(setImmediate)
  await expect(buffer(whole)).rejects.toThrow('the client is gone')
})
