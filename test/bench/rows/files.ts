import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { png } from '../../support/site.ts'
import { compare, rowOf, type Compared } from '../compare.ts'
import type { Bench, CardServer, Measure, Row } from '../bench.ts'
import type { ApiRequest } from '../load/jobs.ts'
import { formatNumber } from '../table.ts'
import { describeThroughput } from './describe.ts'

const imageBytes = 4_000_000
const connections = 4
const readFrom = 8
const requestsPerRun = 300

/**
 * Compares files with a bare stream to and from disk, and a 304 answer with the smallest request. Corkboard
 * acknowledges an upload when it is durable, but a bare stream does not sync. So uploads are also compared with a
 * stream that syncs its file and folder.
 */
export const files: Measure = {
  name: 'files',
  summary:
    'upload and read of images of 4 MB against a bare stream to and from disk, with its syncs and without, and a 304 against GET /me',
  needsCorkboard: true,
  async run(bench) {
    const [corkboard, bare] = [await bench.corkboard(), await bench.fileHandler()]
    const synced = { ...bare, api: { ...bare.api, root: `${bare.api.root}/synced` } }
    const upload = (name: string, reference: CardServer) => compareUploads(bench, name, corkboard, reference)
    const uploads = await upload('upload', bare)
    const syncedUploads = await upload('upload, synced', synced)
    const [keys, bareKeys] = [await stored(corkboard), await stored(bare)]
    const reads = await compare(
      bench,
      'read',
      { subject: reading(bench, corkboard, keys), reference: reading(bench, bare, bareKeys) },
      describeThroughput,
    )
    const about = { unit: 'requests/s', referenceName: 'bare stream', target: { atLeast: 0.7 } }
    return [
      rowOf(uploads, ({ perSecond }) => perSecond, { ...about, name: 'upload of 4 MB' }),
      rowOf(syncedUploads, ({ perSecond }) => perSecond, {
        ...about,
        name: 'upload of 4 MB, durable',
        referenceName: 'bare stream, synced',
      }),
      rowOf(reads, ({ perSecond }) => perSecond, { ...about, name: 'read of 4 MB' }),
      await notModified(bench, corkboard, keys[0]!),
    ]
  },
}

/** Writes all dirty pages to disk before each run, so that writes of the previous run do not slow it down. */
async function compareUploads(bench: Bench, what: string, subject: CardServer, reference: CardServer) {
  const settled = async (server: CardServer) => {
    const upload = await uploading(bench, server)
    return async () => {
      await promisify(execFile)('sync')
      return upload()
    }
  }
  const sides = { subject: await settled(subject), reference: await settled(reference) }
  return compare(bench, what, sides, describeThroughput)
}

const uploadTo = async (server: CardServer): Promise<ApiRequest> => {
  const [board] = await server.createBoards(1)
  return { method: 'POST', path: `/uploads?board=${board}`, cards: 0, image: imageBytes }
}

async function uploading(bench: Bench, server: CardServer) {
  const request = await uploadTo(server)
  return () =>
    bench.load.run('requests', {
      api: server.api,
      requests: [request],
      connections,
      until: { seconds: bench.seconds },
    })
}

function reading(bench: Bench, server: CardServer, keys: string[]) {
  return () =>
    bench.load.run('requests', {
      api: server.api,
      requests: keys.map((key) => ({ method: 'GET', path: `/images/${key}`, cards: 0 })),
      connections,
      until: { seconds: bench.seconds },
    })
}

async function stored(server: CardServer): Promise<string[]> {
  const { path } = await uploadTo(server)
  const image = Buffer.concat([png(400, 300), Buffer.alloc(imageBytes)])
  const keys: string[] = []
  while (keys.length < readFrom) {
    const response = await fetch(server.api.root + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.api.token}`, 'content-type': 'image/png' },
      body: image as Buffer<ArrayBuffer>,
    })
    if (response.status !== 201) throw new Error(`an upload was answered ${response.status}`)
    keys.push(((await response.json()) as { image_key: string }).image_key)
  }
  return keys
}

async function notModified(bench: Bench, corkboard: CardServer, key: string): Promise<Row> {
  const compared: Compared<number> = { subject: [], reference: [] }
  for (let run = 0; run < bench.runs; run++) {
    const { firstP50Ms, secondP50Ms } = await bench.load.run('alternate', {
      api: corkboard.api,
      first: { method: 'GET', path: `/images/${key}`, cards: 0, headers: { 'if-none-match': `"${key}"` } },
      second: { method: 'GET', path: '/me', cards: 0 },
      count: requestsPerRun,
    })
    compared.subject.push(firstP50Ms)
    compared.reference.push(secondP50Ms)
    bench.progress(
      `304, run ${run + 1} of ${bench.runs}: p50 ${formatNumber(firstP50Ms)} ms, GET /me ${formatNumber(secondP50Ms)} ms`,
    )
  }
  return rowOf(compared, (p50Ms) => p50Ms, {
    name: '304 of an image',
    unit: 'ms p50',
    referenceName: 'GET /me',
    target: { atMost: 1.2 },
  })
}
