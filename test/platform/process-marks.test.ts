import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { leaveMark } from '../../platform/process-marks.ts'

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'corkboard-marks-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return join(folder, 'nodes')
}

const ids = Array.from({ length: 4 }, () => crypto.randomUUID()) as [string, string, string, string]

async function leaveMarkInChild(folder: string, id: string) {
  const module = new URL('../../platform/process-marks.ts', import.meta.url).href
  const code = `
    const { leaveMark } = await import(${JSON.stringify(module)})
    await leaveMark(${JSON.stringify(folder)}, ${JSON.stringify(id)})
    process.stdout.write('ready')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

test('[NO8] a process finds the marks of those that have ended: not of the living, the paused, and those of other machines', async () => {
  const folder = await makeFolder()
  const [living, paused, killed, own] = ids
  await leaveMarkInChild(folder, living)
  const stopped = await leaveMarkInChild(folder, paused)
  stopped.kill('SIGSTOP')
  const child = await leaveMarkInChild(folder, killed)
  await writeFile(join(folder, `01234567-${crypto.randomUUID()}`), '') // of another boot
  child.kill('SIGKILL')
  await once(child, 'exit')
  const mark = await leaveMark(folder, own)
  expect(mark?.ended).toEqual([killed])
  expect(await readdir(folder)).toHaveLength(4)
  await mark?.remove()
  expect(await readdir(folder)).toHaveLength(3)
  const next = await leaveMark(folder, own)
  expect(next?.ended).toEqual([])
  await next?.remove()
})

test('[NO8] where a mark is not possible, no process counts as ended', async () => {
  const folder = join(await makeFolder(), 'x'.repeat(100))
  expect(await leaveMark(folder, ids[0])).toBeNull()
  const file = await makeFolder()
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, '')
  expect(await leaveMark(file, ids[0])).toBeNull()
})
