import { execFile } from 'node:child_process'
import { readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Cluster } from './cluster.ts'

const run = promisify(execFile)

/** The content of PostgreSQL's `postmaster.pid`. */
export interface PidFile {
  pid: number
  port: number
  ready: boolean
}

export async function readPidFile(cluster: Cluster): Promise<PidFile | null> {
  const text = await readFile(path.join(cluster.folder, 'postmaster.pid'), 'utf8').catch(() => '')
  const [pid, , , port, , , , state] = text.split('\n')
  return pid && port ? { pid: Number(pid), port: Number(port), ready: state?.trim() === 'ready' } : null
}

/**
 * Returns the ids of all live server processes of the cluster, including backends without a postmaster. The
 * `cluster_name` in their command line identifies them. Their working folder would, too, but even root can't read it in
 * most containers. A recorded process id is not enough, because another process may have it by now.
 */
export async function clusterProcesses(cluster: Cluster): Promise<number[]> {
  const processes = process.platform === 'linux' ? await procCommands() : await psCommands()
  return processes
    .filter(({ command }) => command.includes(cluster.name) && /^(postgres:|\S*\/postgres\s)/.test(command))
    .map(({ pid }) => pid)
}

/**
 * Ends all server processes that an earlier process left running, and removes `postmaster.pid`, so that PostgreSQL can
 * start. A server is shut down in order. Backends without a postmaster end by themselves; busy ones are killed, because
 * PostgreSQL refuses to start while they run.
 */
export async function endLeftovers(cluster: Cluster, log: (line: string) => void): Promise<void> {
  const alive = await clusterProcesses(cluster)
  const postmaster = (await readPidFile(cluster))?.pid
  if (postmaster && alive.includes(postmaster)) {
    log(`stopping a PostgreSQL server that an earlier process left running (pid ${postmaster})`)
    signal(postmaster, 'SIGINT')
    await gone(cluster, 15_000)
  } else if (alive.length > 0) {
    await gone(cluster, 500)
  }
  let rest = await clusterProcesses(cluster)
  if (rest.length > 0) log(`killing ${rest.length} PostgreSQL processes that did not stop`)
  while (rest.length > 0) {
    for (const pid of rest) signal(pid, 'SIGKILL')
    await gone(cluster, 1_000)
    rest = await clusterProcesses(cluster)
  }
  await rm(path.join(cluster.folder, 'postmaster.pid'), { force: true })
}

async function gone(cluster: Cluster, waitMs: number): Promise<void> {
  const deadline = Date.now() + waitMs
  while (Date.now() < deadline && (await clusterProcesses(cluster)).length > 0) await sleep(20)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function procCommands(): Promise<{ pid: number; command: string }[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  return Promise.all(
    pids.map(async (pid) => {
      const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return { pid: Number(pid), command: words.replaceAll('\0', ' ') }
    }),
  )
}

async function psCommands(): Promise<{ pid: number; command: string }[]> {
  const { stdout } = await run('ps', ['-axww', '-o', 'pid=,command='], { maxBuffer: 64 * 1024 * 1024 })
  return stdout.split('\n').map((line) => {
    const [, pid = '0', command = ''] = /^\s*(\d+) (.*)$/.exec(line) ?? []
    return { pid: Number(pid), command }
  })
}
