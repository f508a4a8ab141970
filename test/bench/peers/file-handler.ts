/**
 * The minimum that stores a file: a Fastify route that streams a body to disk, and one that streams it back. Under
 * `/synced` the answer is sent after file and folder are synced, so that the file survives a power failure.
 */
import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import Fastify from 'fastify'
import { announce } from './announce.ts'

const folder = await mkdtemp(join(tmpdir(), 'corkboard-bench-files-'))
process.once('SIGTERM', () => void rm(folder, { recursive: true, force: true }).then(() => process.exit(0)))

const app = Fastify()
app.addContentTypeParser('image/png', (_request, body, done) => done(null, body))
app.post('/uploads', async (request, reply) => {
  const image_key = randomUUID()
  await pipeline(request.body as Readable, createWriteStream(join(folder, image_key)))
  return reply.code(201).send({ image_key })
})
app.post('/synced/uploads', async (request, reply) => {
  const image_key = randomUUID()
  await pipeline(request.body as Readable, createWriteStream(join(folder, image_key), { flush: true }))
  const names = await open(folder)
  await names.sync()
  await names.close()
  return reply.code(201).send({ image_key })
})
app.get<{ Params: { key: string } }>('/images/:key', async (request, reply) => {
  const path = join(folder, request.params.key)
  const { size } = await stat(path)
  return reply.header('content-type', 'image/png').header('content-length', size).send(createReadStream(path))
})

await app.listen({ port: 0, host: '127.0.0.1' })
announce(app.server)
