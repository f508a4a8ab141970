/** Measures attacks. Each has a separate service with the same second tenant. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Attack } from './attack.ts'
import { attacks } from './attacks.ts'
import type { AttackerCommands } from './attacker.ts'
import { Child, TookTooLong } from './child.ts'
import { probesPerSecond, probeTimeoutMs, rareKinds, type ProbeKind, type Samples } from './probe.ts'
import type { ProberCommands } from './prober.ts'
import { sceneOf } from './scene.ts'
import { AttackedService, Template } from './service.ts'

export interface Latency {
  samples: number
  p50Ms: number
  p99Ms: number
  /** Medians of the rare probes: opening the board and resizing a picture. */
  rareMs: Partial<Record<ProbeKind, number>>
  failures: Record<string, number>
}

export interface Figures {
  attack: string
  longestDelayMs: number
  longestCpuMs: number
  peakBytes: number
  tenant: Latency
  answers: Record<string, number>
  /** Failures of the service: it ended, was not ready, or did not restart. */
  faults: string[]
}

export interface RunOptions {
  /**
   * Smaller inputs, fewer samples, and one service for all attacks as long as it serves: it is killed and started again
   * once, at the end.
   */
  short: boolean
}

/** How long the tenant is measured at least, and at most. A longer attack is measured up to this time. */
const times = {
  full: { samples: 500, attackMs: 30_000, calmWithinMs: 20_000 },
  short: { samples: 200, attackMs: 15_000, calmWithinMs: 5_000 },
}
const prepareMs = 120_000
/** Time within which the service must be ready after a kill. */
const restartMs = 15_000
/** If no turn of the service's loop takes longer, it has finished its earlier work. */
const calmMs = 100

export class HostileRun {
  readonly #template: Template
  readonly #short: boolean
  readonly #children = new Set<Child<any>>()
  #current: Stage | null = null

  private constructor(template: Template, { short }: RunOptions) {
    this.#template = template
    this.#short = short
  }

  static async start(options: RunOptions): Promise<HostileRun> {
    return new HostileRun(await Template.make(attacks.length), options)
  }

  /** The end of the attacked service's output. */
  get output(): string {
    return this.#current?.service.process.output ?? ''
  }

  /** Measures the second tenant without an attack. */
  async quiet(): Promise<Figures> {
    return this.#measure(null)
  }

  async attack(attack: Attack): Promise<Figures> {
    return this.#measure(attack)
  }

  /** Kills the running service, restarts it, and checks that it serves. @returns faults; none when no service runs */
  async restart(): Promise<string[]> {
    if (!this.#current) return []
    const faults = await restart(this.#current)
    if (faults.length > 0) await this.#leave()
    return faults
  }

  async end(): Promise<void> {
    await Promise.all([...this.#children].map((child) => child.stop()))
    await this.#current?.service.remove()
    await this.#template.remove()
  }

  async #measure(attack: Attack | null): Promise<Figures> {
    const { samples, attackMs, calmWithinMs } = this.#short ? times.short : times.full
    const figures = noFigures(attack?.name ?? 'quiet')
    const stage = await this.#enter().catch((error: Error) => error)
    if (stage instanceof Error) {
      await this.#leave()
      return { ...figures, faults: [`there was no service to attack: ${stage.message}`] }
    }
    const { service, prober } = stage
    const attacker = attack ? this.#child<AttackerCommands>('attacker.ts', { nice: true }) : null
    try {
      if (attack && attacker) {
        const scene = sceneOf(service.scene, attacks.indexOf(attack))
        await attacker.do('prepare', { name: attack.name, scene, short: this.#short }, prepareMs)
      }
      await calm(service, calmWithinMs)
      await prober.do('start', null, 5000)
      await service.reset()
      const sending = attacker && settled(attacker.do('send', null, attackMs))
      const startMs = performance.now()
      await delay((samples / probesPerSecond) * 1100)
      for (let elapsedMs = 0; elapsedMs < attackMs + 1000; elapsedMs = performance.now() - startMs) {
        if (!sending || sending.done) break
        await note(service, figures).catch(() => undefined)
        await delay(100)
      }
      if (sending?.error && !(sending.error instanceof TookTooLong))
        figures.faults.push(`the attacker failed: ${sending.error.message}`)
      // An attacker that its own work blocks can't report its answers.
      if (attacker)
        figures.answers = await attacker
          .do('answers', null, 10_000)
          .catch(() => ({ 'no answer: the attacker still sends': 1 }))
      if (sending?.error instanceof TookTooLong) figures.answers['no answer: it still waits'] = 1
      figures.tenant = summarise(await prober.do('stop', null, probeTimeoutMs + 10_000))
      await note(service, figures)
      await attacker?.stop()
      if (attack) figures.faults.push(...(await isUp(service, 'after the attack')))
      if (attack?.leavesData && !this.#short) {
        figures.faults.push(...(await restart({ service, prober })))
        await note(service, figures)
      }
    } catch (error) {
      const { message } = error as Error
      figures.faults.push(service.process.isAlive ? message : `the service ended by itself (${message})`)
      await note(service, figures).catch(() => undefined)
    }
    await attacker?.stop()
    if (attacker) this.#children.delete(attacker)
    const isWell = figures.faults.length === 0 && Object.keys(figures.tenant.failures).length === 0
    const serves = this.#short && isWell && (await calm(service, calmWithinMs).catch(() => false))
    if (!serves) await this.#leave()
    return figures
  }

  /** Returns the running service or a new one, with the tenant. */
  async #enter(): Promise<Stage> {
    if (this.#current) return this.#current
    const service = await AttackedService.start(this.#template)
    const prober = this.#child<ProberCommands>('prober.ts')
    this.#current = { service, prober }
    await prober.do('open', service.scene, 20_000)
    return this.#current
  }

  async #leave(): Promise<void> {
    const current = this.#current
    this.#current = null
    if (!current) return
    await current.prober.stop()
    this.#children.delete(current.prober)
    await current.service.remove()
  }

  #child<Known extends Record<string, { takes: unknown; gives: unknown }>>(
    file: string,
    options = {},
  ): Child<Known> {
    const child = new Child<Known>(new URL(file, import.meta.url), options)
    this.#children.add(child)
    return child
  }
}

interface Stage {
  service: AttackedService
  prober: Child<ProberCommands>
}

const noFigures = (attack: string): Figures => ({
  attack,
  longestDelayMs: 0,
  longestCpuMs: 0,
  peakBytes: 0,
  tenant: { samples: 0, p50Ms: Number.NaN, p99Ms: Number.NaN, rareMs: {}, failures: {} },
  answers: {},
  faults: [],
})

/** Adds the figures that the service measured itself. */
async function note(service: AttackedService, figures: Figures): Promise<void> {
  const { peakBytes, longestCpuMs, longestDelayMs } = await service.read()
  figures.peakBytes = Math.max(figures.peakBytes, peakBytes)
  figures.longestCpuMs = Math.max(figures.longestCpuMs, longestCpuMs)
  figures.longestDelayMs = Math.max(figures.longestDelayMs, longestDelayMs)
}

async function isUp({ process }: AttackedService, when: string): Promise<string[]> {
  try {
    await process.ready(restartMs)
    return []
  } catch {
    return [
      process.isAlive ? `not ready ${restartMs / 1000} s ${when}` : `the service ended by itself ${when}`,
    ]
  }
}

/** Killed and started again, the service is ready in time and serves the tenant. */
async function restart({ service, prober }: Stage): Promise<string[]> {
  await prober.do('close', null, 5000)
  await service.process.kill()
  service.process.launch()
  const faults = await isUp(service, 'after a restart')
  if (faults.length > 0) return faults
  try {
    await service.reset()
    await prober.do('open', service.scene, 20_000)
    await prober.do('start', null, 5000)
    await delay(1500)
    const { failures } = await prober.do('stop', null, probeTimeoutMs + 10_000)
    return Object.entries(failures).map(([reason, count]) => `after a restart: ${reason} (${count} times)`)
  } catch (error) {
    return [`after a restart: ${(error as Error).message}`]
  }
}

/** Waits until the service has finished the work of the preparation. @returns false when it did not finish in time */
async function calm(service: AttackedService, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs
  for (;;) {
    await service.reset()
    await delay(500)
    if ((await service.read()).longestDelayMs <= calmMs) return true
    if (performance.now() > deadline) return false
  }
}

function settled(promise: Promise<unknown>): { done: boolean; error: Error | null } {
  const state = { done: false, error: null as Error | null }
  promise.then(
    () => (state.done = true),
    (error: Error) => Object.assign(state, { done: true, error }),
  )
  return state
}

function summarise({ latenciesMs, failures }: Samples): Latency {
  const kinds = Object.entries(latenciesMs) as [ProbeKind, number[]][]
  const all = kinds.flatMap(([kind, values]) => (rareKinds.includes(kind) ? [] : values))
  const rare = kinds.filter(([kind]) => rareKinds.includes(kind))
  return {
    samples: all.length,
    p50Ms: percentile(all, 0.5),
    p99Ms: percentile(all, 0.99),
    rareMs: Object.fromEntries(rare.map(([kind, values]) => [kind, percentile(values, 0.5)])),
    failures,
  }
}

function percentile(values: number[], fraction: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN
}
