/**
 * Several nodes of the service behind HAProxy, with `deploy/haproxy.cfg`, and on one PostgreSQL, each by a proxy of its
 * own; and a Redis between them, if wanted. A webhook receiver gets the events of the load.
 */
import { mkdtemp, rm, chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase, type Database } from '../../sql/database.ts'
import { startEmbedded, type EmbeddedPostgres } from '../../sql/embedded/embedded.ts'
import { startBalancer, type Balancer } from '../support/balancers.ts'
import { until } from '../support/editor.ts'
import { freePort } from '../support/free-port.ts'
import { freezeServer } from '../support/freeze.ts'
import { runningRedis, type RedisServer } from '../support/redis-server.ts'
import { ServiceProcess } from '../support/service-process.ts'
import { swallowingProxy, type SwallowingProxy } from '../support/swallowing-proxy.ts'
import { EventWatch } from './event-watch.ts'
import type { Site } from './site.ts'
import { webhookSettings } from './subscribe.ts'

export interface ClusterNode {
  service: ServiceProcess
  /** Between this node and PostgreSQL. */
  proxy: SwallowingProxy
}

export interface ClusterOptions {
  nodes: number
  withRedis: boolean
  /** The longest time for which a node is paused or cut off. */
  maxPauseMs: number
  /** Whether some of the load goes to the nodes directly. Otherwise all of it goes through the balancer. */
  pastBalancer: boolean
}

/** HAProxy takes at most 1.3 seconds to see that a node drains. */
const drainSeconds = 3

export class Cluster implements Site {
  readonly nodes: ClusterNode[] = []
  /** A node that the balancer knows, too. It is started only while it takes another node's place. */
  #spare!: ClusterNode
  #balancer!: Balancer
  readonly events: EventWatch
  readonly #options: ClusterOptions
  readonly #dataDir: string
  readonly #postgres: EmbeddedPostgres
  readonly #port: number
  /** Null: messages between nodes go over NOTIFY. */
  readonly redis: RedisServer | null

  private constructor(
    options: ClusterOptions,
    dataDir: string,
    postgres: EmbeddedPostgres,
    port: number,
    redis: RedisServer | null,
    events: EventWatch,
  ) {
    this.#options = options
    this.#dataDir = dataDir
    this.#postgres = postgres
    this.#port = port
    this.redis = redis
    this.events = events
  }

  static async start(options: ClusterOptions): Promise<Cluster> {
    const dataDir = await mkdtemp(join(tmpdir(), 'corkboard-cluster-'))
    await chmod(dataDir, 0o755) // PostgreSQL may run as another user
    const postgres = await startEmbedded({ dataDir })
    const redis = options.withRedis ? await runningRedis() : null
    const cluster = new Cluster(options, dataDir, postgres, await freePort(), redis, await EventWatch.open())
    try {
      for (let n = 0; n < options.nodes; n++) {
        const node = await cluster.#make()
        cluster.nodes.push(node)
        node.service.launch()
        await node.service.ready()
      }
      cluster.#spare = await cluster.#make()
      const ports = [...cluster.nodes, cluster.#spare].map(({ service }) => Number(new URL(service.url).port))
      cluster.#balancer = await startBalancer('haproxy', ports, { port: cluster.#port })
    } catch (error) {
      await cluster.remove()
      throw error
    }
    return cluster
  }

  async #make(): Promise<ClusterNode> {
    const proxy = await swallowingProxy(this.#postgres.port)
    const service = await ServiceProcess.make({
      ...webhookSettings,
      DATABASE_URL: proxy.through(this.#postgres.url),
      PUBLIC_URL: `http://127.0.0.1:${this.#port}`,
      TRUST_PROXY: '1',
      DRAIN_SECONDS: String(drainSeconds),
      ...(this.redis ? { REDIS_URL: this.redis.url } : {}),
    })
    return { service, proxy }
  }

  get url(): string {
    return this.#balancer.url
  }

  get nodeUrls(): readonly string[] {
    return this.#options.pastBalancer ? this.nodes.map(({ service }) => service.url) : []
  }

  /** A request may wait in a paused node until it goes on. */
  get answersWithinMs(): number {
    return 25_000 + this.#options.maxPauseMs
  }

  get output(): string {
    return this.nodes.map(({ service }, n) => `node ${n + 1}:\n${service.output}`).join('\n')
  }

  /** Starts the spare node beside the others, and waits until it is ready. */
  async add(): Promise<void> {
    this.#spare.service.launch()
    await this.#spare.service.ready()
  }

  /** Stops the spare node. */
  async withdraw(): Promise<void> {
    await this.#spare.service.stop()
  }

  /** Waits until all nodes and the balancer are ready. @returns faults: nodes that ended by themselves */
  async ready(): Promise<string[]> {
    const outcomes = await Promise.allSettled(this.nodes.map(({ service }) => service.ready(120_000)))
    const balances = async () => (await fetch(`${this.url}/readyz`)).ok
    await until(balances, 'the balancer sends requests to a node')
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
    await this.#balancer?.close()
    for (const { service, proxy } of [...this.nodes, this.#spare].filter(Boolean)) {
      await service.kill()
      await service.remove()
      await proxy.stop()
    }
    await this.events.close()
    await this.redis?.close()
    await this.#postgres.stop()
    await rm(this.#dataDir, { recursive: true, force: true })
  }
}
