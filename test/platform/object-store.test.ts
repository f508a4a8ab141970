/** One contract for every driver: see test/support/store-drivers.ts, also for how to run it against a real store. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'
import { drivers } from '../support/store-drivers.ts'

const partBytes = 5 * 1024 * 1024 // S3 takes no smaller one but the last
const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex')

describe.each(drivers)('$name', ({ open }) => {
  const opened = open()
  const store = opened.then((driver) => driver.store)
  afterAll(async () => (await opened).close())
  const newKey = () => `t${randomUUID()}.bin`

  async function put(key: string, bytes: Buffer, known = true) {
    const body = Readable.from(
      bytes.length === 0 ? [] : [bytes.subarray(0, 10), bytes.subarray(10)].filter((b) => b.length > 0),
    )
    return (await store).put(key, body, { bytes: known ? bytes.length : null, contentType: 'image/png' })
  }
  async function read(key: string, range?: { start: number; end: number }) {
    const stream = await (await store).get(key, range)
    return stream && buffer(stream)
  }
  async function putPart(url: string | undefined, bytes: Buffer) {
    const response = await fetch(url!, { method: 'PUT', body: bytes as Buffer<ArrayBuffer> })
    await response.arrayBuffer()
    return { status: response.status, etag: (response.headers.get('etag') ?? '').replaceAll('"', '') }
  }

  test('[OS1] what was put is read back, whole and by ranges, with its size', async () => {
    const key = newKey()
    const bytes = randomBytes(300_000)
    expect(await put(key, bytes)).toBe(300_000)
    expect(await (await store).head(key)).toEqual({ bytes: 300_000 })
    expect((await read(key))!.equals(bytes)).toBe(true)
    expect((await read(key, { start: 0, end: 0 }))!.equals(bytes.subarray(0, 1))).toBe(true)
    expect((await read(key, { start: 1000, end: 200_000 }))!.equals(bytes.subarray(1000, 200_001))).toBe(true)
    expect((await read(key, { start: 299_999, end: 299_999 }))!.equals(bytes.subarray(299_999))).toBe(true)
    await (await store).remove([key])
  })

  test('[OS1] a body whose size is not known beforehand is stored, and so is an empty one', async () => {
    const key = newKey()
    const bytes = randomBytes(100_000)
    expect(await put(key, bytes, false)).toBe(100_000)
    expect((await read(key))!.equals(bytes)).toBe(true)
    expect(await put(key, Buffer.alloc(0))).toBe(0)
    expect(await (await store).head(key)).toEqual({ bytes: 0 })
    await (await store).remove([key])
  })

  test('[OS2] what is not there has no head, no bytes, and is removed without a fault', async () => {
    const key = newKey()
    expect(await (await store).head(key)).toBe(null)
    expect(await read(key)).toBe(null)
    await (await store).remove([key])
    await put(key, Buffer.from('something'))
    await (await store).remove([key, newKey()])
    expect(await (await store).head(key)).toBe(null)
    expect(await read(key)).toBe(null)
  })

  test('[OS3] a body that breaks off leaves nothing, and its own error comes out', async () => {
    for (const bytes of [1_000_000, null]) {
      const key = newKey()
      const body = Readable.from(
        (async function* () {
          yield randomBytes(200_000)
          await new Promise(setImmediate)
          throw new Error('the client is gone')
        })(),
      )
      await expect((await store).put(key, body, { bytes, contentType: 'image/png' })).rejects.toThrow(
        'the client is gone',
      )
      expect(await (await store).head(key)).toBe(null)
    }
  })

  test('[OS3] a second put replaces what is under a key', async () => {
    const key = newKey()
    await put(key, Buffer.from('the first of the two'))
    await put(key, Buffer.from('second'))
    expect(String(await read(key))).toBe('second')
    await (await store).remove([key])
  })

  test('[OS12] there is nothing under a key before its put is granted, and then all of it', async () => {
    const key = newKey()
    const chunks = Array.from({ length: 40 }, () => randomBytes(64 * 1024))
    const bytes = Buffer.concat(chunks)
    const { promise: granted, resolve: grant } = Promise.withResolvers<void>()
    const options = { bytes: bytes.length, contentType: 'image/png', granted, ownsChunks: true }
    const body = Readable.from(chunks)
    const putting = (await store).put(key, body, options)
    await once(AbortSignal.timeout(100), 'abort')
    expect(await (await store).head(key)).toBe(null)
    grant()
    expect(await putting).toBe(bytes.length)
    expect((await read(key))!.equals(bytes)).toBe(true)
    await (await store).remove([key])
  })

  test('[OS12] a put that is refused leaves nothing, however much of its body came, and tells why', async () => {
    const endless = new Readable({
      read() {
        setImmediate(() => this.push(randomBytes(1000)))
      },
    })
    for (const body of [Readable.from([randomBytes(200_000)]), endless]) {
      const key = newKey()
      const { promise: granted, reject: refuse } = Promise.withResolvers<void>()
      const options = { bytes: 200_000, contentType: 'image/png', granted }
      granted.catch(() => undefined)
      void once(AbortSignal.timeout(100), 'abort').then(() => refuse(new Error('over the quota')))
      await expect((await store).put(key, body, options)).rejects.toThrow('over the quota')
      expect(await (await store).head(key)).toBe(null)
    }
  })

  test('[OS12] chunks that are somebody else’s are left as they were', async () => {
    const key = newKey()
    const chunk = Buffer.alloc(64 * 1024, 'x')
    await (await store).put(key, Readable.from([chunk]), { bytes: chunk.length, contentType: 'image/png' })
    expect(String(chunk)).toBe('x'.repeat(64 * 1024))
    await (await store).remove([key])
  })

  test('[OS4] all objects are listed with their sizes', async () => {
    const [a, b] = [newKey(), `resized/${newKey()}/320.webp`]
    await put(a, randomBytes(1234))
    await put(b, randomBytes(99))
    const found = new Map<string, number>()
    for await (const { key, bytes } of (await store).list()) found.set(key, bytes)
    expect(found.get(a)).toBe(1234)
    expect(found.get(b)).toBe(99)
    await (await store).remove([a, b])
  })

  test('[OS5] parts in any order and in parallel make the object in the order of their numbers', async () => {
    const key = newKey()
    const bytes = randomBytes(2 * partBytes + 1000)
    const uploadId = await (await store).beginMultipart(key, 'video/mp4')
    const sizes = [partBytes, partBytes, 1000]
    const urls = await (
      await store
    ).signParts(
      key,
      uploadId,
      sizes.map((size, at) => ({ partNumber: at + 1, bytes: size })),
      3600,
    )
    expect([...urls.keys()]).toEqual([1, 2, 3])
    const part = (n: number) => bytes.subarray((n - 1) * partBytes, Math.min(n * partBytes, bytes.length))
    const sent = await Promise.all(
      [3, 1, 2].map(async (n) => ({ partNumber: n, ...(await putPart(urls.get(n), part(n))) })),
    )
    expect(sent.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(sent.map(({ etag }) => etag)).toEqual([3, 1, 2].map((n) => md5(part(n))))
    expect(await (await store).head(key)).toBe(null)
    expect(await (await store).complete(key, uploadId, sent)).toEqual({ outcome: 'stored' })
    expect(await (await store).head(key)).toEqual({ bytes: bytes.length })
    expect((await read(key))!.equals(bytes)).toBe(true)
    expect(await (await store).complete(key, uploadId, sent)).toEqual({ outcome: 'unknown' })
    await (await store).remove([key])
  })

  test('[OS6] a part of another size than was signed is refused, and so is a changed URL', async () => {
    const key = newKey()
    const uploadId = await (await store).beginMultipart(key, 'video/mp4')
    const urls = await (await store).signParts(key, uploadId, [{ partNumber: 1, bytes: 1000 }], 3600)
    const url = urls.get(1)!
    expect((await putPart(url, randomBytes(999))).status).toBe(403)
    expect((await putPart(url, randomBytes(1001))).status).toBe(403)
    const signature = /(ignature=)(.)/
    expect(
      (
        await putPart(
          url.replace(signature, (_all, name: string, first: string) => name + (first === 'a' ? 'b' : 'a')),
          randomBytes(1000),
        )
      ).status,
    ).toBe(403)
    const changed = new URL(url)
    for (const name of ['part', 'partNumber'])
      if (changed.searchParams.has(name)) changed.searchParams.set(name, '2')
    expect((await putPart(changed.href, randomBytes(1000))).status).toBe(403)
    expect((await putPart(url, randomBytes(1000))).status).toBe(200)
    await (await store).abort(key, uploadId)
  })

  test('[OS6] the URL of a part lasts as long as it was signed for', async () => {
    const key = newKey()
    const uploadId = await (await store).beginMultipart(key, 'video/mp4')
    const urls = await (await store).signParts(key, uploadId, [{ partNumber: 1, bytes: 10 }], 1)
    const deadline = Date.now() + 10_000
    while ((await putPart(urls.get(1), randomBytes(10))).status !== 403 && Date.now() < deadline)
      await once(AbortSignal.timeout(200), 'abort')
    expect((await putPart(urls.get(1), randomBytes(10))).status).toBe(403)
    await (await store).abort(key, uploadId)
  })

  test('[OS7] completing with a part that is missing or has another ETag makes nothing, and can be done right after', async () => {
    const key = newKey()
    const uploadId = await (await store).beginMultipart(key, 'video/mp4')
    const bytes = randomBytes(1000)
    const urls = await (await store).signParts(key, uploadId, [{ partNumber: 1, bytes: 1000 }], 3600)
    const { etag } = await putPart(urls.get(1), bytes)
    const wrong = [
      [{ partNumber: 1, etag: md5(randomBytes(5)) }],
      [{ partNumber: 1, etag: '../../secret' }],
      [{ partNumber: 2, etag }],
      [
        { partNumber: 1, etag },
        { partNumber: 2, etag },
      ],
    ]
    for (const parts of wrong) {
      expect(await (await store).complete(key, uploadId, parts)).toEqual({ outcome: 'wrong-parts' })
      expect(await (await store).head(key)).toBe(null)
    }
    expect(await (await store).complete(key, uploadId, [{ partNumber: 1, etag }])).toEqual({
      outcome: 'stored',
    })
    expect((await read(key))!.equals(bytes)).toBe(true)
    await (await store).remove([key])
  })

  test('[OS7] a part that is sent again replaces the one before', async () => {
    const key = newKey()
    const uploadId = await (await store).beginMultipart(key, 'video/mp4')
    const urls = await (await store).signParts(key, uploadId, [{ partNumber: 1, bytes: 1000 }], 3600)
    const [first, second] = [randomBytes(1000), randomBytes(1000)]
    const { etag: before } = await putPart(urls.get(1), first)
    const { etag } = await putPart(urls.get(1), second)
    expect(await (await store).complete(key, uploadId, [{ partNumber: 1, etag: before }])).toEqual({
      outcome: 'wrong-parts',
    })
    expect(await (await store).complete(key, uploadId, [{ partNumber: 1, etag }])).toEqual({
      outcome: 'stored',
    })
    expect((await read(key))!.equals(second)).toBe(true)
    await (await store).remove([key])
  })

  test('[OS8] an aborted upload takes no parts and makes no object; aborting again is no fault', async () => {
    const key = newKey()
    const uploadId = await (await store).beginMultipart(key, 'video/mp4')
    const urls = await (await store).signParts(key, uploadId, [{ partNumber: 1, bytes: 10 }], 3600)
    const { etag } = await putPart(urls.get(1), randomBytes(10))
    await (await store).abort(key, uploadId)
    await (await store).abort(key, uploadId)
    expect((await putPart(urls.get(1), randomBytes(10))).status).toBe(404)
    expect(await (await store).complete(key, uploadId, [{ partNumber: 1, etag }])).toEqual({
      outcome: 'unknown',
    })
    expect(await (await store).head(key)).toBe(null)
  })

  test('[OS9] a store that can be written passes the check', async () => {
    await (await store).check()
  })
})
