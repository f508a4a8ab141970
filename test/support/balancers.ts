/** The real HAProxy and nginx, with the files of `deploy/`, in front of two nodes. */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from './editor.ts'
import { freePort } from './free-port.ts'
import { repository } from './instance.ts'

export interface Balancer {
  url: string
  close(): Promise<void>
}

type Settings = Record<'CORKBOARD_BIND' | 'CORKBOARD_NODE_1' | 'CORKBOARD_NODE_2', string>

const deployed = (name: string) => join(repository, 'deploy', name)

const commands = {
  async haproxy(settings: Settings) {
    return { command: '/usr/sbin/haproxy', given: ['-db', '-f', deployed('haproxy.cfg')], env: settings }
  },
  /** nginx reads no environment. So the names are replaced, as `envsubst` does it. */
  async nginx(settings: Settings, folder: string) {
    const text = await readFile(deployed('nginx.conf'), 'utf8')
    const replaced = text.replaceAll(/\$\{(CORKBOARD_\w+)\}/g, (_, name: keyof Settings) => settings[name])
    await writeFile(join(folder, 'corkboard.conf'), replaced)
    const user = process.getuid?.() === 0 ? 'user root;' : ''
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${name};`,
    )
    const main = `${user} pid nginx.pid; error_log stderr; events {} http { access_log off; ${paths.join(' ')} include corkboard.conf; }`
    await writeFile(join(folder, 'nginx.conf'), main)
    const given = ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;']
    return { command: '/usr/sbin/nginx', given, env: {} }
  },
}

export const balancerNames = Object.keys(commands) as (keyof typeof commands)[]

/** Starts a balancer. @throws when its program is not installed, or does not start */
export async function startBalancer(
  name: keyof typeof commands,
  nodes: [port: number, port: number],
): Promise<Balancer> {
  const folder = await mkdtemp(join(tmpdir(), `corkboard-${name}-`))
  const address = `127.0.0.1:${await freePort()}`
  const settings = {
    CORKBOARD_BIND: address,
    CORKBOARD_NODE_1: `127.0.0.1:${nodes[0]}`,
    CORKBOARD_NODE_2: `127.0.0.1:${nodes[1]}`,
  }
  const { command, given, env } = await commands[name](settings, folder)
  const child = spawn(command, given, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (text) => (said += String(text)))
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', (error) => {
      said += `${command}: ${error.message}`
      resolve()
    })
  })
  let hasEnded = false
  void ended.then(() => (hasEnded = true))
  const url = `http://${address}`
  const isUp = () =>
    fetch(`${url}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    )
  await until(async () => hasEnded || (await isUp()), `${name} is up`, 20_000)
  if (hasEnded) throw new Error(`${name} did not start. ${said}`)
  return {
    url,
    async close() {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A port that leads to another port until it is cut: then connections end, and new ones are refused. */
export interface Line {
  port: number
  cut(): Promise<void>
}

export async function lineTo(port: number): Promise<Line> {
  const open = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async cut() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}
