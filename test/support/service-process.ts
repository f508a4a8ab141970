/** The service as an operator runs it: in a separate process, with its embedded PostgreSQL. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openDatabase, type Database } from '../../sql/database.ts'
import { findEmbedded, type RunningPostgres } from '../../sql/embedded/embedded.ts'
import { locateCluster } from '../../sql/embedded/cluster.ts'
import { clusterProcesses } from '../../sql/embedded/processes.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const keptOutputBytes = 20_000

export class ServiceProcess {
  readonly dataDir: string
  /** The port is the same for all starts, so that editors can reconnect. */
  readonly url: string
  /** There is no balancer to go past. */
  readonly nodeUrls: readonly string[] = []
  /** The service's own deadlines are much shorter. */
  readonly answersWithinMs = 25_000
  readonly events = null
  readonly #port: number
  readonly #env: Record<string, string>
  #child: ChildProcess | null = null
  #output = ''
  #killedPostmaster: number | undefined
  readonly #endWithUs = () => void this.#child?.kill('SIGTERM')

  private constructor(dataDir: string, port: number, env: Record<string, string>) {
    this.dataDir = dataDir
    this.#env = env
    this.#port = port
    this.url = `http://127.0.0.1:${port}`
    process.on('exit', this.#endWithUs)
  }

  /** @param env additional environment variables */
  static async make(env: Record<string, string> = {}): Promise<ServiceProcess> {
    const probe = createServer().listen(0, '127.0.0.1')
    await once(probe, 'listening')
    const { port } = probe.address() as AddressInfo
    await new Promise((resolve) => probe.close(resolve))
    return new ServiceProcess(await mkdtemp(join(tmpdir(), 'corkboard-crash-')), port, env)
  }

  /** The end of the output of all starts. */
  get output(): string {
    return this.#output
  }

  get isAlive(): boolean {
    const child = this.#child
    return child !== null && child.exitCode === null && child.signalCode === null
  }

  /** Starts the process without waiting. */
  launch(): void {
    const child = spawn(process.execPath, ['--import', './server/preflight.js', 'server/main.ts'], {
      cwd: repository,
      env: {
        ...process.env,
        PORT: String(this.#port),
        HOST: '127.0.0.1',
        DATA_DIR: this.dataDir,
        DATABASE_URL: '',
        DEMO: 'off',
        RATE_LIMIT_PER_HOUR: '1000000000',
        LOG_LEVEL: 'error',
        ...this.#env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const keep = (chunk: Buffer) => (this.#output = (this.#output + chunk.toString()).slice(-keptOutputBytes))
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    this.#child = child
  }

  /** @throws when the process ends, or is not ready in time */
  async ready(timeoutMs = 60_000): Promise<void> {
    const deadline = performance.now() + timeoutMs
    while (!(await this.isReady())) {
      if (!this.isAlive) throw new Error(`the service ended by itself:\n${this.#output}`)
      if (performance.now() > deadline)
        throw new Error(`the service is not ready after ${timeoutMs} ms:\n${this.#output}`)
      await delay(20)
    }
  }

  async isReady(): Promise<boolean> {
    try {
      const answer = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(5000) })
      await answer.text()
      return answer.ok
    } catch {
      return false
    }
  }

  /** Sends SIGTERM, and waits until the process and its PostgreSQL have ended. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM')
  }

  /** Sends SIGKILL. The PostgreSQL server keeps running. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** Sends SIGSTOP: the process keeps its sockets and its locks, but does nothing until `resume`. */
  pause(): void {
    process.kill(-this.#child!.pid!, 'SIGSTOP')
  }

  resume(): void {
    process.kill(-this.#child!.pid!, 'SIGCONT')
  }

  /** Sends SIGKILL to the postmaster, or to all PostgreSQL processes. */
  async killPostgres(which: 'postmaster' | 'all'): Promise<void> {
    const postmaster = (await findEmbedded(this.dataDir))?.pid
    if (postmaster === undefined) throw new Error('there is no PostgreSQL')
    this.#killedPostmaster = postmaster
    for (const pid of which === 'all' ? await this.#postgresProcesses() : [postmaster]) killProcess(pid)
  }

  /** Waits until the service has restarted its PostgreSQL. */
  async postgresBack(timeoutMs = 60_000): Promise<void> {
    const deadline = performance.now() + timeoutMs
    const pid = async () => (await findEmbedded(this.dataDir))?.pid ?? this.#killedPostmaster
    while ((await pid()) === this.#killedPostmaster) {
      if (performance.now() > deadline)
        throw new Error(`PostgreSQL is not back after ${timeoutMs} ms:\n${this.#output}`)
      await delay(20)
    }
  }

  /** Calls `work` with a connection to the database of the running service. */
  async withDatabase<T>(work: (database: Database, postgres: RunningPostgres) => Promise<T>): Promise<T> {
    const running = await findEmbedded(this.dataDir)
    if (!running) throw new Error('there is no PostgreSQL')
    const database = openDatabase({ url: running.url, poolSize: 4 })
    try {
      return await work(database, running)
    } finally {
      await database.close()
    }
  }

  /** Ends all processes and removes all files. */
  async remove(): Promise<void> {
    process.off('exit', this.#endWithUs)
    await this.#end('SIGTERM')
    for (const pid of await this.#postgresProcesses()) killProcess(pid)
    while ((await this.#postgresProcesses()).length > 0) await delay(20)
    await rm(this.dataDir, { recursive: true, force: true })
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (!child || !this.isAlive) return
    const ended = once(child, 'exit')
    process.kill(-child.pid!, signal)
    const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), 30_000)
    await ended
    clearTimeout(timer)
  }

  async #postgresProcesses(): Promise<number[]> {
    return clusterProcesses(await locateCluster(this.dataDir))
  }
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
