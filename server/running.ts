/**
 * Records the address of the running instance in DATA_DIR. Commands read it when their own environment does not contain
 * the address. If several processes share the folder, the last one that started wins.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

interface Running {
  pid: number
  url: string
}

const fileIn = (dataDir: string) => join(dataDir, 'running.json')

/** Records the URL of this process. @returns a function that removes the record */
export async function recordRunning(dataDir: string, url: string): Promise<() => Promise<void>> {
  const running: Running = { pid: process.pid, url }
  await mkdir(dataDir, { recursive: true })
  await writeFile(fileIn(dataDir), `${JSON.stringify(running)}\n`)
  return async () => {
    if ((await read(dataDir))?.pid === process.pid) await rm(fileIn(dataDir), { force: true })
  }
}

/** Returns the URL of the running instance, or null when none runs. The record of a killed process is ignored. */
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
    return (error as NodeJS.ErrnoException).code === 'EPERM' // the process runs as another user
  }
}
