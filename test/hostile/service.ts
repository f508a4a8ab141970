/** The attacked service: the command of `npm start` with defaults, on a copy of a data folder that is made once. */
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ServiceProcess } from '../support/service-process.ts'
import type { TurnSource } from '../support/long-turn.ts'
import { photograph } from './pictures.ts'
import { makeAccounts, type Accounts } from './scene.ts'
import { socketVariable, type ServiceFigures } from './service-meter.ts'

const meter = new URL('service-meter.ts', import.meta.url).href
let services = 0

/** A started service with the accounts of the scene. */
export class AttackedService implements TurnSource {
  readonly scene: Accounts
  readonly process: ServiceProcess
  readonly #meterSocket: string

  private constructor(process: ServiceProcess, meterSocket: string, scene: Accounts) {
    this.process = process
    this.#meterSocket = meterSocket
    this.scene = scene
  }

  static async start(template: Template): Promise<AttackedService> {
    const { process, meterSocket } = await makeProcess()
    await copyFolder(template.dataDir, process.dataDir)
    const scene = { ...template.scene, url: process.url, dataDir: process.dataDir }
    const service = new AttackedService(process, meterSocket, scene)
    try {
      process.launch()
      await process.ready()
    } catch (error) {
      await service.remove()
      throw error
    }
    return service
  }

  /** Returns figures since the start or the last `reset`. */
  read(): Promise<ServiceFigures> {
    return this.#ask('GET')
  }

  async reset(): Promise<void> {
    await this.#ask('POST')
  }

  async remove(): Promise<void> {
    await this.process.kill()
    await this.process.remove()
    await rm(this.#meterSocket, { force: true })
  }

  #ask(method: 'GET' | 'POST'): Promise<ServiceFigures> {
    return new Promise((resolve, reject) => {
      const request = httpRequest({ socketPath: this.#meterSocket, method, timeout: 10_000 }, (response) => {
        let text = ''
        response.on('data', (chunk) => (text += chunk))
        response.once('end', () => resolve(JSON.parse(text) as ServiceFigures))
      })
      request.once('timeout', () => request.destroy(new Error('the meter does not answer')))
      request.once('error', reject)
      request.end()
    })
  }
}

/** A data folder with the scene, of a service that has ended. */
export class Template {
  readonly scene: Accounts
  readonly #process: ServiceProcess

  private constructor(process: ServiceProcess, scene: Accounts) {
    this.#process = process
    this.scene = scene
  }

  /** @param attackers number of attacks. Each has a separate account */
  static async make(attackers: number): Promise<Template> {
    const { process } = await makeProcess()
    try {
      process.launch()
      await process.ready()
      const scene = await makeAccounts(process, attackers, photograph)
      await process.stop()
      return new Template(process, scene)
    } catch (error) {
      await process.remove()
      throw error
    }
  }

  get dataDir(): string {
    return this.#process.dataDir
  }

  remove(): Promise<void> {
    return this.#process.remove()
  }
}

async function makeProcess(): Promise<{ process: ServiceProcess; meterSocket: string }> {
  const meterSocket = join(tmpdir(), `corkboard-meter-${process.pid}-${(services += 1)}.sock`)
  const made = await ServiceProcess.make({
    // Uses the defaults, as an operator would.
    RATE_LIMIT_PER_HOUR: '',
    LOG_LEVEL: '',
    NODE_OPTIONS: `--import ${meter}`,
    [socketVariable]: meterSocket,
  })
  return { process: made, meterSocket }
}

/** Copies a folder with owners and modes, which PostgreSQL checks. */
async function copyFolder(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', '--reflink=auto', `${from}/.`, to])
}
