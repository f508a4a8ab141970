/** A real Redis on a free port. A test can stop it, start it again on the same port, and freeze it. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from './editor.ts'
import { freePort } from './free-port.ts'

const binary = '/usr/bin/redis-server'

export interface RedisServer {
  url: string
  start(): Promise<void>
  /** Kills it (SIGKILL). */
  kill(): Promise<void>
  freeze(): void
  thaw(): void
  /** Sends one command and returns the answer. */
  command(text: string): Promise<string>
  close(): Promise<void>
}

export async function redisServer(): Promise<RedisServer> {
  const port = await freePort()
  const dir = await mkdtemp(join(tmpdir(), 'corkboard-redis-'))
  let child: ChildProcess | null = null
  const redis: RedisServer = {
    url: `redis://127.0.0.1:${port}`,
    async start() {
      const started = spawn(
        binary,
        ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir],
        { stdio: 'ignore' },
      )
      await once(started, 'spawn') // throws when the program is missing
      child = started
      const answers = async () => (await redis.command('PING').catch(() => '')) === '+PONG\r\n'
      await until(answers, 'Redis answers', 10_000)
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    async command(text) {
      const socket = net.connect(port, '127.0.0.1')
      try {
        socket.write(`${text}\r\n`)
        const [answer] = (await once(socket, 'data')) as [Buffer]
        return answer.toString()
      } finally {
        socket.destroy()
      }
    },
    async close() {
      await redis.kill()
      await rm(dir, { recursive: true, force: true })
    },
  }
  return redis
}

/** A Redis that runs. */
export async function runningRedis(): Promise<RedisServer> {
  const redis = await redisServer()
  await redis.start()
  return redis
}
