import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { withKnownSize } from '../../platform/storage/known-size.ts'

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'corkboard-known-size-'))
  vi.stubEnv('TMPDIR', folder)
  onTestFinished(async () => {
    vi.unstubAllEnvs()
    await rm(folder, { recursive: true, force: true })
  })
  return folder
}

test('[OS14] a body of unknown size comes whole, with its size', async () => {
  const folder = await temporaryFolder()
  for (const bytes of [randomBytes(1_000_000), Buffer.alloc(0)]) {
    const body = Readable.from(bytes.length === 0 ? [] : [bytes.subarray(0, 10), bytes.subarray(10)])
    const came = await withKnownSize(body, null, async (whole, size) => [size, await buffer(whole)])
    expect(came).toEqual([bytes.length, bytes])
  }
  expect(await readdir(folder)).toEqual([])
})

test('[OS14] a process that is killed leaves no temporary file', async () => {
  const folder = await temporaryFolder()
  const module = new URL('../../platform/storage/known-size.ts', import.meta.url)
  const program = `
    import { PassThrough, Readable } from 'node:stream'
    import { withKnownSize } from ${JSON.stringify(module.href)}
    async function* endless() {
      for (let chunk = 0; chunk < 20; chunk++) yield Buffer.alloc(64 * 1024)
      process.stdout.write('written')
      await new Promise((resolve) => setTimeout(resolve, 60_000))
    }
    await withKnownSize(Readable.from(endless(), { objectMode: false }), null, async () => undefined)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, NODE_OPTIONS: '', TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(await readdir(folder)).toEqual([])
})

test('[OS14] a temporary file that cannot be written is storage_unavailable, and the body’s own error comes out', async () => {
  const folder = await temporaryFolder()
  const broken = Readable.from(
    (async function* () {
      yield randomBytes(100_000)
      throw new Error('the client is gone')
    })(),
  )
  await expect(withKnownSize(broken, null, async () => undefined)).rejects.toThrow('the client is gone')
  const early = new PassThrough()
  const refused = withKnownSize(early, null, async () => undefined)
  early.destroy(new Error('gone at once'))
  await expect(refused).rejects.toThrow('gone at once')
  await rm(folder, { recursive: true })
  const body = Readable.from([randomBytes(1000)])
  await expect(withKnownSize(body, null, async () => undefined)).rejects.toMatchObject({
    code: 'storage_unavailable',
  })
})
