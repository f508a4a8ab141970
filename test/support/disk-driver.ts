/** The disk store, with the route that receives the parts of uploads. */
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'
import { systemClock } from '../../platform/clock.ts'
import { DiskStore } from '../../platform/storage/disk-store.ts'
import type { ObjectStore } from '../../platform/storage/object-store.ts'
import { openPartUrls } from '../../platform/storage/part-urls.ts'
import { sendError } from '../../api/http/error-reply.ts'
import { registerPartUploads } from '../../server/part-uploads.ts'

export interface StoreUnderTest {
  store: ObjectStore
  close(): Promise<void>
}

export async function openDiskDriver(): Promise<StoreUnderTest & { folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'corkboard-store-'))
  const app = Fastify()
  app.setErrorHandler(sendError)
  const urls = openPartUrls(['a key for tests, of more than 32 characters'])
  const publicUrl = () => `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const store = new DiskStore({ folder, urls, clock: systemClock, publicUrl })
  await registerPartUploads(app, { store, urls, clock: systemClock })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return {
    store,
    folder,
    async close() {
      await app.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
