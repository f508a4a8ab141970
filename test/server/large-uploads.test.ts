/**
 * Large uploads to a service that is a process of its own. By hand with the full sizes:
 *
 *   UPLOADS_AT_ONCE=100 MULTIPART_MB=1024 npm test -- test/server/large-uploads.test.ts
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { png } from '../api/file.ts'
import { makeDataDir, repository, startInstance, type Instance } from '../support/instance.ts'
import { fileDigest, type MultipartClientOptions } from '../support/multipart-client.ts'
import { residentBytes, uploadAllAtOnce } from '../support/upload-load.ts'

const megabyte = 1_000_000
const mebibyte = 1024 * 1024
const atOnce = Number(process.env['UPLOADS_AT_ONCE'] ?? 20)
const boundMb = atOnce > 20 ? 300 : 100
const fileMebibytes = Number(process.env['MULTIPART_MB'] ?? 96)

let instance: Instance
let token: string
let boardId: string
let folder: string
const cleaning: (() => Promise<void>)[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corkboard-client-'))
  instance = await startInstance(await makeDataDir((work) => void cleaning.push(work)))
  const added = await instance.corkboard(
    'user',
    'add',
    '--email',
    'large@example.test',
    '--name',
    'Large',
    '--tier',
    'pro',
    '--scopes',
    'read,write',
  )
  token = (JSON.parse(added.stdout) as { token: string }).token
  const made = await request('/boards', { method: 'POST', body: JSON.stringify({ name: 'Large' }) })
  boardId = ((await made.json()) as { board: { id: string } }).board.id
}, 90_000)

afterAll(async () => {
  await instance?.stop()
  for (const work of cleaning) await work()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

const request = (path: string, init: RequestInit = {}) =>
  fetch(`${instance.url}/api/v1${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })

const tell = (line: string) => void process.stderr.write(`${line}\n`)

test(
  `[UP17] ${atOnce} uploads of 25 MB at once hold less than ${boundMb} MB above idle`,
  { timeout: 300_000 },
  async () => {
    const bytes = Buffer.concat([png, Buffer.alloc(25 * mebibyte - png.length)])
    const load = { url: instance.url, pid: instance.pid, token, boardId, bytes }
    await uploadAllAtOnce({ ...load, count: 2 }) // all code is loaded
    const { idle, peak } = await uploadAllAtOnce({ ...load, count: atOnce })
    const above = (peak - idle) / megabyte
    tell(
      `${atOnce} uploads of 25 MB: ${Math.round(above)} MB above the ${Math.round(idle / megabyte)} MB of idle`,
    )
    expect(above).toBeLessThan(boundMb)
    expect(await residentBytes(instance.pid)).toBeGreaterThan(0)
  },
)

test(
  `[MU11] ${fileMebibytes} MiB in parts, by a client that is killed in the middle and another that goes on: the bytes are equal`,
  { timeout: 600_000 },
  async () => {
    const bytes = fileMebibytes * mebibyte + 17
    const options = {
      url: instance.url,
      token,
      boardId,
      bytes,
      seed: 7,
      record: join(folder, 'record'),
      atOnce: 4,
    }
    const partCount = Math.ceil(bytes / (8 * mebibyte))
    const startedAt = performance.now()
    const killed = await run(options, Math.floor(partCount / 2))
    expect(killed.signal).toBe('SIGKILL')
    const resumed = await run(options)
    expect(resumed, resumed.output).toMatchObject({ code: 0 })
    // What was on its way is sent again, what is in the record is not.
    const [before, after] = [killed, resumed].map(({ output }) => output.match(/^part \d+$/gm) ?? [])
    expect(before!.length).toBeGreaterThanOrEqual(Math.floor(partCount / 2))
    expect(after!.length).toBeLessThanOrEqual(partCount - before!.length)
    expect(new Set([...before!, ...after!]).size).toBe(partCount)
    const { image_key } = JSON.parse(resumed.output.trimEnd().split('\n').at(-1)!) as { image_key: string }
    const seconds = (performance.now() - startedAt) / 1000
    const response = await request(`/images/${image_key}`)
    expect(Number(response.headers.get('content-length'))).toBe(bytes)
    const hash = createHash('sha256')
    for await (const chunk of response.body!) hash.update(chunk)
    expect(hash.digest('hex')).toBe(fileDigest(7, bytes))
    tell(
      `${fileMebibytes} MiB in ${partCount} parts, killed after ${before!.length}: ${Math.round(seconds)} s`,
    )
  },
)

/** Runs the client; it is killed when it has sent so many parts. */
function run(
  options: MultipartClientOptions,
  killAfter = Infinity,
): Promise<{ code: number | null; signal: string | null; output: string }> {
  const child = spawn(process.execPath, ['test/support/multipart-client.ts', JSON.stringify(options)], {
    cwd: repository,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    if ((output.match(/^part \d+$/gm) ?? []).length >= killAfter) child.kill('SIGKILL')
  })
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal, output })))
}
