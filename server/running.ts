/**
 * The address of the running instance, recorded in DATA_DIR, for commands whose own environment does not tell where the
 * instance listens. Of several processes on one folder the one that started last counts.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

interface Running {
  pid: number
  url: string
}

const fileIn = (dataDir: string) => join(dataDir, 'running.json')

/** Records where clients reach this process. @returns what removes the record */
export async function recordRunning(dataDir: string, url: string): Promise<() => Promise<void>> {
  const running: Running = { pid: process.pid, url }
  await mkdir(dataDir, { recursive: true })
  await writeFile(fileIn(dataDir), `${JSON.stringify(running)}\n`)
  return async () => {
    if ((await read(dataDir))?.pid === process.pid) await rm(fileIn(dataDir), { force: true })
  }
}

/** Where clients reach the running instance; null when none runs. A killed process leaves its record behind. */
export async function findRunningUrl(dataDir: string): Promise<string | null> {
  const running = await read(dataDir)
  return running && isAlive(running.pid) ? running.url : null
}

async function read(dataDir: string): Promise<Running | null> {
  try {
    const { pid, url } = JSON.parse(await readFile(fileIn(dataDir), 'utf8')) as Partial<Running>
    return typeof pid === 'number' && typeof url === 'string' ? { pid, url } : null
  } catch {
    return null
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' // it runs as another user
  }
}
