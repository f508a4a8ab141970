import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Turns } from '../support/turn-meter.ts'
import type { MemoryBytes } from './bench.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const preload = new URL('child-preload.ts', import.meta.url).href
const stopWithinMs = 20_000
const keptOutputBytes = 4_000
/** Written to `clear_refs`, it sets the largest resident size back to the present one. */
const resetPeak = '5'

/** A server of the bench as a child process. */
export class ServerProcess {
  private readonly child: ChildProcess
  private readonly name: string
  private output = ''
  private wasReady = false
  private isStopping = false

  /** Files are relative to the repository's root; `loadedBefore` are loaded before `file`. */
  constructor(name: string, file: string, env: Record<string, string>, loadedBefore: string[] = []) {
    this.name = name
    const preloads = [preload, ...loadedBefore.map((one) => new URL(`../../${one}`, import.meta.url).href)]
    const imports = preloads.flatMap((one) => ['--import', one])
    this.child = spawn(process.execPath, ['--expose-gc', ...imports, file], {
      cwd: repository,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Only the bench receives Ctrl-C. It then stops its servers in order.
      detached: true,
    })
    const keep = (chunk: Buffer) => (this.output = (this.output + chunk.toString()).slice(-keptOutputBytes))
    this.child.stdout?.on('data', keep)
    this.child.stderr?.on('data', keep)
    this.child.once('exit', () => {
      if (this.wasReady && !this.isStopping) console.error(`${name} ended by itself:\n${this.output}`)
    })
  }

  /**
   * Calls `isReady` every 20 ms until it returns a value. Throws with the process's output when the process ends
   * before.
   */
  async ready<Answer>(
    isReady: (output: string) => Promise<Answer | null>,
    withinMs: number,
  ): Promise<Answer> {
    const giveUpMs = performance.now() + withinMs
    for (;;) {
      const answer = await isReady(this.output)
      if (answer !== null) {
        this.wasReady = true
        return answer
      }
      if (this.hasEnded) throw new Error(`${this.name} ended:\n${this.output}`)
      if (performance.now() > giveUpMs) throw new Error(`${this.name} is not ready:\n${this.output}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  memory(): Promise<MemoryBytes> {
    return this.ask('memory')
  }

  /** Milliseconds of CPU time that the process has used, with its worker threads. */
  cpuMs(): Promise<number> {
    return this.ask('cpu')
  }

  /** Works only on Linux. */
  async peakBytes(work: () => Promise<unknown>): Promise<number> {
    await this.memory()
    const file = (name: string) => `/proc/${this.child.pid}/${name}`
    const status = (field: string) => {
      const [, kb] = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file('status'), 'utf8'))!
      return Number(kb) * 1024
    }
    writeFileSync(file('clear_refs'), resetPeak)
    const before = status('VmRSS')
    await work()
    return status('VmHWM') - before
  }

  async turns(work: () => Promise<unknown>): Promise<Turns> {
    await this.ask('turns')
    await work()
    return this.ask('turns')
  }

  private async ask<Answer>(question: 'memory' | 'cpu' | 'turns'): Promise<Answer> {
    const answered = new AbortController()
    const ended = once(this.child, 'exit', { signal: answered.signal }).then(() => {
      throw new Error(`${this.name} ended`)
    })
    this.child.send(question)
    try {
      const [answer] = (await Promise.race([once(this.child, 'message'), ended])) as [Answer]
      return answer
    } finally {
      answered.abort()
    }
  }

  /** Stops the process, and kills it after 20 seconds. */
  async stop(): Promise<void> {
    if (this.hasEnded) return
    this.isStopping = true
    const ended = once(this.child, 'exit')
    this.child.kill('SIGTERM')
    const timer = setTimeout(() => this.child.kill('SIGKILL'), stopWithinMs)
    await ended
    clearTimeout(timer)
  }

  private get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null
  }
}
