import { spawn, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Account } from './account.ts'
import type { Binaries } from './binaries.ts'
import type { Cluster } from './cluster.ts'
import { readPidFile } from './processes.ts'

/** The server process that this process started. It forks one backend for each connection. */
export interface Postmaster {
  pid: number
  /** Resolves when the process ends, with its signal or exit code. */
  ended: Promise<string>
  /** Shuts down fast: rolls back open transactions and disconnects clients. Resolves when the process has ended. */
  stop(): Promise<void>
}

export interface PostmasterOptions {
  cluster: Cluster
  binaries: Binaries
  account: Account
  port: number
  settings: Record<string, string>
  /** Shuts down a server that is still starting. */
  signal: AbortSignal
}

/**
 * Starts the server and waits until it accepts connections, including crash recovery. Throws with the server's output.
 */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const { cluster, binaries, account, port, signal } = options
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    cluster_name: cluster.name,
    max_connections: '100',
    fsync: 'on',
    synchronous_commit: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // One log file for each day of the week, in the cluster's folder `log`.
    logging_collector: 'on',
    log_filename: 'postgresql-%a.log',
    log_rotation_size: '0',
    log_truncate_on_rotation: 'on',
    log_checkpoints: 'off',
    ...options.settings,
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const { file, args, ...user } = account.command(binaries.postgres, ['-D', cluster.folder, ...flags])
  const child = spawn(file, args, {
    ...user,
    cwd: '/',
    env: { PATH: process.env.PATH },
    // In a separate session the server ignores Ctrl-C in the terminal. This process needs its database to stop in
    // order.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  child.unref()
  const words = firstWords(child)
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, killedBy) => resolve(killedBy ?? `exit code ${code}`))
  })
  const interrupt = (): boolean => child.kill('SIGINT')
  signal.addEventListener('abort', interrupt)
  try {
    const failed = await Promise.race([ended, ready(cluster, child)])
    if (failed) {
      const log = path.join(cluster.folder, 'log')
      throw new Error(
        `PostgreSQL did not start (${failed}). See its log in ${log}. ${words.join(' ')}`.trim(),
      )
    }
  } finally {
    signal.removeEventListener('abort', interrupt)
  }
  return { pid: child.pid!, ended, stop: () => stop(child, ended) }
}

/** Resolves to null when the server accepts connections. Never resolves when the server ends before that. */
async function ready(cluster: Cluster, child: ChildProcess): Promise<null> {
  for (;;) {
    const file = await readPidFile(cluster)
    if (file?.ready && file.pid === child.pid) return null
    if (child.exitCode !== null || child.signalCode !== null || !child.pid) return new Promise(() => {})
    await sleep(10)
  }
}

async function stop(child: ChildProcess, ended: Promise<string>): Promise<void> {
  // Fast shutdown, then immediate shutdown (the next start recovers from the log), then kill.
  for (const name of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    child.kill(name)
    const done = new AbortController()
    const timeout = sleep(20_000, 'timeout', { signal: done.signal }).catch(() => '')
    const outcome = await Promise.race([ended, timeout])
    done.abort()
    if (outcome !== 'timeout') return
  }
}

/** Returns the server's lines on standard error. It writes there until its own log begins. */
function firstWords(child: ChildProcess): string[] {
  const words: string[] = []
  createInterface({ input: child.stderr! }).on('line', (line) => words.push(line))
  const pipe = child.stderr as Socket
  pipe.unref()
  return words
}
