/**
 * Runs rounds: clients write at full speed, a process is killed at a random moment, and no acknowledged write may be
 * lost.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Load, type LoadFigures } from './load.ts'
import { Random } from './random.ts'
import { ServiceProcess } from '../support/service-process.ts'

/** The process that is killed. */
export const kills = {
  process: 'the process; its PostgreSQL lives on until the next start',
  'process twice': 'the process, and again while it starts or heals',
  postmaster: 'the postmaster alone; the process lives',
  cluster: 'all processes of PostgreSQL; the process lives',
  everything: 'all processes of PostgreSQL, and the process a moment later',
} as const
export type Kill = keyof typeof kills

export interface RoundReport {
  round: number
  kill: Kill
  /** True when the editors reconnect after the kill. False when they are closed at the kill. */
  editorsStay: boolean
  /** Time from the kill until the service was ready again. */
  recoveryMs: number
  faults: string[]
}

/** Number of rounds after which new boards are used. */
const roundsPerLoad = 5

export class CrashRun {
  readonly #service: ServiceProcess
  readonly #random: Random
  readonly #kills: readonly Kill[]
  readonly #loads: Load[] = []
  #rounds = 0

  private constructor(service: ServiceProcess, random: Random, kills: readonly Kill[]) {
    this.#service = service
    this.#random = random
    this.#kills = kills
  }

  static async start(options: { seed: number; kills?: readonly Kill[] }): Promise<CrashRun> {
    const service = await ServiceProcess.make()
    try {
      service.launch()
      await service.ready()
    } catch (error) {
      await service.remove()
      throw error
    }
    const all = Object.keys(kills) as Kill[]
    return new CrashRun(service, new Random(options.seed), options.kills ?? all)
  }

  /** The end of the service's output. */
  get output(): string {
    return this.#service.output
  }

  /** Totals of all rounds so far. */
  get figures(): LoadFigures {
    return sumOf(this.#loads)
  }

  async round(): Promise<RoundReport> {
    const service = this.#service
    const random = this.#random
    const kill = this.#kills[this.#rounds % this.#kills.length]!
    const editorsStay = random.chance(0.5)
    const load = await this.#load()
    this.#rounds += 1
    await load.start()
    await delay(random.between(200, 2000))

    const killedAt = performance.now()
    switch (kill) {
      case 'process':
      case 'process twice':
        await service.kill()
        break
      case 'postmaster':
        await service.killPostgres('postmaster')
        break
      case 'cluster':
        await service.killPostgres('all')
        break
      case 'everything':
        await service.killPostgres('all')
        await delay(random.between(0, 500))
        await service.kill()
    }
    if (!editorsStay) load.leave()
    if (kill === 'process twice') {
      service.launch()
      await delay(random.between(0, 2000))
      await service.kill()
    }
    if (service.isAlive) await service.postgresBack()
    else service.launch()
    await service.ready()
    const recoveryMs = performance.now() - killedAt
    await delay(random.between(0, 500))
    const faults = [...(await load.stop()), ...(await load.check())]
    if (!service.isAlive) faults.push('the process died by itself')
    return { round: this.#rounds, kill, editorsStay, recoveryMs, faults }
  }

  /** Checks all acknowledged writes of all rounds again. */
  checkAll(): Promise<string[]> {
    return checkAgain(this.#loads)
  }

  async end(): Promise<void> {
    for (const load of this.#loads) load.leave()
    await this.#service.remove()
  }

  async #load(): Promise<Load> {
    if (this.#rounds % roundsPerLoad === 0) {
      this.#loads.at(-1)?.leave()
      this.#loads.push(await Load.make(this.#service, this.#random))
    }
    return this.#loads.at(-1)!
  }
}

/** Totals of all loads. */
export function sumOf(loads: readonly Load[]): LoadFigures {
  const all = loads.map(({ figures }) => figures)
  const sum = (of: keyof LoadFigures) => all.reduce((total, figures) => total + figures[of], 0)
  const most = (of: keyof LoadFigures) => Math.max(0, ...all.map((figures) => figures[of]))
  return {
    acknowledged: sum('acknowledged'),
    canvasesHeld: sum('canvasesHeld'),
    written: sum('written'),
    unanswered: sum('unanswered'),
    unavailable: sum('unavailable'),
    slowestMs: most('slowestMs'),
    longestAwayMs: most('longestAwayMs'),
  }
}

/** Checks all acknowledged writes of these loads, and their events. */
export async function checkAgain(loads: readonly Load[]): Promise<string[]> {
  const faults: string[] = []
  for (const load of loads) faults.push(...(await load.check()))
  for (const load of loads) faults.push(...(await load.checkEvents()))
  return faults
}
