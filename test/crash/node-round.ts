/**
 * Runs rounds on several nodes behind a balancer: editors on all nodes, API clients that send each request to any, while
 * nodes are killed, paused, replaced and cut off. Nothing acknowledged may be lost, `live: true` must be true, and every
 * event is delivered.
 *
 * Editors open their boards through the balancer, half of them at `/collab/{boardId}`, which it hashes, and half at
 * `/collab`, which it spreads. One board has another editor on each node, past the balancer. An API client sends each
 * request to the balancer or to a node.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Cluster, type ClusterNode } from './cluster.ts'
import { Load, type LoadFigures, type LoadPace } from './load.ts'
import { Random } from './random.ts'
import { checkAgain, sumOf } from './round.ts'

/** What happens to the nodes, or to what they share. */
export const nodeFaults = {
  'kill one': 'one node is killed, and started again',
  'kill two': 'two nodes are killed at the same moment, and started again',
  pause: 'one node is paused, and goes on',
  zombie: 'one node is paused, another takes its place, and the first goes on',
  'rolling restart': 'each node is stopped and started again, one after the other',
  'postgres cut': 'one node is cut off from PostgreSQL; then its connections work again',
  'postgres frozen': 'PostgreSQL hangs, and goes on',
  'postgres restarted': 'PostgreSQL is ended at once, and started again',
  'redis stopped': 'Redis is killed, and started again',
  'redis flushed': 'Redis forgets everything',
  'redis frozen': 'Redis hangs, and goes on',
} as const
export type NodeFault = keyof typeof nodeFaults

export interface NodeRoundReport {
  round: number
  fault: NodeFault
  /** How long the pause, the cut or the stop took. */
  lastedMs: number
  /** The time from its end until all balanced editors showed their boards again. */
  backMs: number
  faults: string[]
}

export interface NodeRunOptions {
  seed: number
  nodes: number
  /** The longest pause. */
  maxPauseMs: number
  /** Messages between the nodes go over Redis. */
  redis?: boolean
  only?: readonly NodeFault[]
  /** Default: full speed. */
  pace?: LoadPace
  /** False: the whole load goes through the balancer. */
  pastBalancer?: boolean
}

/** Number of rounds after which new boards are used. */
const roundsPerLoad = 4
/** After a pause of a minute, everybody shows everybody within this time. */
const presentWithinMs = 45_000

export class NodeRun {
  readonly #cluster: Cluster
  readonly #random: Random
  readonly #options: NodeRunOptions
  readonly #loads: Load[] = []
  #rounds = 0

  private constructor(cluster: Cluster, options: NodeRunOptions) {
    this.#cluster = cluster
    this.#options = options
    this.#random = new Random(options.seed)
  }

  static async start(options: NodeRunOptions): Promise<NodeRun> {
    const { nodes, maxPauseMs, redis = false, pastBalancer = true } = options
    return new NodeRun(await Cluster.start({ nodes, maxPauseMs, withRedis: redis, pastBalancer }), options)
  }

  get cluster(): Cluster {
    return this.#cluster
  }

  get #faults(): readonly NodeFault[] {
    const { only, redis } = this.#options
    const all = Object.keys(nodeFaults) as NodeFault[]
    return only ?? all.filter((fault) => redis || !fault.startsWith('redis'))
  }

  /** The end of the nodes' output. */
  get output(): string {
    return this.#cluster.output
  }

  get figures(): LoadFigures & { events: number; repeated: number } {
    return { ...sumOf(this.#loads), ...this.#cluster.events.figures }
  }

  async round(): Promise<NodeRoundReport> {
    const fault = this.#faults[this.#rounds % this.#faults.length]!
    if (this.#rounds % roundsPerLoad === 0) {
      this.#loads.at(-1)?.leave()
      this.#loads.push(await Load.make(this.#cluster, this.#random, this.#options.pace))
    }
    const load = this.#loads.at(-1)!
    this.#rounds += 1
    await load.start()
    await delay(this.#random.between(500, 2000))
    const beganAt = performance.now()
    await this.#cause[fault]()
    const endedAt = performance.now()
    const died = await this.#cluster.ready()
    await delay(this.#random.between(0, 2000))
    const faults = [
      ...died,
      ...(await load.stop()),
      ...(await load.check()),
      ...(await load.allPresent(presentWithinMs)),
    ]
    const backMs = Math.max(0, load.allBackAt - endedAt)
    return { round: this.#rounds, fault, lastedMs: endedAt - beganAt, backMs, faults }
  }

  /** Checks all acknowledged writes of all rounds again, and their events. */
  checkAll(): Promise<string[]> {
    return checkAgain(this.#loads)
  }

  async end(): Promise<void> {
    for (const load of this.#loads) load.leave()
    await this.#cluster.remove()
  }

  readonly #cause: Record<NodeFault, () => Promise<void>> = {
    'kill one': () => this.#kill(1),
    'kill two': () => this.#kill(2),
    pause: async () => {
      const { service } = this.#anyNode()
      service.pause()
      await this.#aWhile()
      service.resume()
    },
    zombie: async () => {
      const { service } = this.#anyNode()
      service.pause()
      await this.#cluster.add()
      await this.#aWhile()
      service.resume()
      await delay(this.#random.between(500, 3000))
      await this.#cluster.withdraw()
    },
    'rolling restart': async () => {
      for (const { service } of this.#cluster.nodes) {
        await service.stop()
        service.launch()
        await service.ready()
      }
    },
    'postgres cut': async () => {
      const { proxy } = this.#anyNode()
      proxy.silenceAll()
      await this.#aWhile()
      proxy.relay()
    },
    'postgres frozen': async () => {
      const thaw = this.#cluster.freezePostgres()
      await this.#aWhile()
      thaw()
    },
    'postgres restarted': () => this.#cluster.restartPostgres(),
    'redis stopped': async () => {
      await this.#cluster.redis!.kill()
      await this.#aWhile()
      await this.#cluster.redis!.start()
    },
    'redis flushed': async () => void (await this.#cluster.redis!.command('FLUSHALL')),
    'redis frozen': async () => {
      this.#cluster.redis!.freeze()
      await this.#aWhile()
      this.#cluster.redis!.thaw()
    },
  }

  async #kill(count: number): Promise<void> {
    const first = this.#random.between(0, this.#cluster.nodes.length)
    const killed = Array.from({ length: count }, (_, n) => this.#node(first + n).service)
    await Promise.all(killed.map((service) => service.kill()))
    await delay(this.#random.between(0, 6000))
    for (const service of killed) service.launch()
  }

  /** Most pauses are short, because the rules differ by seconds; some are as long as they may be. */
  #aWhile(): Promise<void> {
    const { maxPauseMs } = this.#options
    const most = this.#random.chance(0.2) ? maxPauseMs : Math.min(maxPauseMs, 15_000)
    return delay(this.#random.between(1000, most))
  }

  #anyNode(): ClusterNode {
    return this.#node(this.#random.between(0, this.#cluster.nodes.length))
  }

  #node(n: number): ClusterNode {
    return this.#cluster.nodes[n % this.#cluster.nodes.length]!
  }
}
