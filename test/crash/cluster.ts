/** Several nodes of the service on one PostgreSQL, each behind a proxy of its own; and a Redis between them, if wanted. */
import { mkdtemp, rm, chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase, type Database } from '../../sql/database.ts'
import { startEmbedded, type EmbeddedPostgres } from '../../sql/embedded/embedded.ts'
import { freezeServer } from '../support/freeze.ts'
import { runningRedis, type RedisServer } from '../support/redis-server.ts'
import { ServiceProcess } from '../support/service-process.ts'
import { swallowingProxy, type SwallowingProxy } from '../support/swallowing-proxy.ts'
import type { Site } from './site.ts'

export interface ClusterNode {
  service: ServiceProcess
  /** Between this node and PostgreSQL. */
  proxy: SwallowingProxy
}

export class Cluster implements Site {
  readonly nodes: ClusterNode[] = []
  readonly #dataDir: string
  readonly #postgres: EmbeddedPostgres
  /** Null: messages between nodes go over NOTIFY. */
  readonly redis: RedisServer | null

  private constructor(dataDir: string, postgres: EmbeddedPostgres, redis: RedisServer | null) {
    this.#dataDir = dataDir
    this.#postgres = postgres
    this.redis = redis
  }

  static async start(count: number, withRedis: boolean): Promise<Cluster> {
    const dataDir = await mkdtemp(join(tmpdir(), 'corkboard-cluster-'))
    await chmod(dataDir, 0o755) // PostgreSQL may run as another user
    const postgres = await startEmbedded({ dataDir })
    const cluster = new Cluster(dataDir, postgres, withRedis ? await runningRedis() : null)
    try {
      for (let n = 0; n < count; n++) await cluster.add()
    } catch (error) {
      await cluster.remove()
      throw error
    }
    return cluster
  }

  get urls(): readonly string[] {
    return this.nodes.map(({ service }) => service.url)
  }

  get output(): string {
    return this.nodes.map(({ service }, n) => `node ${n + 1}:\n${service.output}`).join('\n')
  }

  /** Adds a node, and waits until it is ready. */
  async add(): Promise<ClusterNode> {
    const proxy = await swallowingProxy(this.#postgres.port)
    const service = await ServiceProcess.make({
      DATABASE_URL: proxy.through(this.#postgres.url),
      SECRET_KEY: 'of the rounds with several nodes: 32 characters and more',
      ...(this.redis ? { REDIS_URL: this.redis.url } : {}),
    })
    const node = { service, proxy }
    this.nodes.push(node)
    service.launch()
    await service.ready()
    return node
  }

  /** Stops the node that was added last. */
  async removeLast(): Promise<void> {
    const { service, proxy } = this.nodes.pop()!
    await service.remove()
    await proxy.stop()
  }

  /** Waits until all nodes are ready. @returns faults: nodes that ended by themselves */
  async ready(): Promise<string[]> {
    const outcomes = await Promise.allSettled(this.nodes.map(({ service }) => service.ready(120_000)))
    return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []))
  }

  /** Freezes PostgreSQL. @returns a function that lets it go on */
  freezePostgres(): () => void {
    return freezeServer(this.#postgres.pid)
  }

  /** Kills PostgreSQL, which is started again at once. */
  async restartPostgres(): Promise<void> {
    const { pid } = this.#postgres
    process.kill(pid, 'SIGQUIT')
    while (this.#postgres.pid === pid) await new Promise((resolve) => setTimeout(resolve, 50))
  }

  async withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const database = openDatabase({ url: this.#postgres.url, poolSize: 4 })
    try {
      return await work(database)
    } finally {
      await database.close()
    }
  }

  async remove(): Promise<void> {
    while (this.nodes.length > 0) {
      this.nodes.at(-1)!.service.resume()
      await this.removeLast()
    }
    await this.redis?.close()
    await this.#postgres.stop()
    await rm(this.#dataDir, { recursive: true, force: true })
  }
}
