/** The real HAProxy and nginx, with the files of `deploy/`, in front of two or more nodes. */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { until } from './editor.ts'
import { freePort } from './free-port.ts'
import { repository } from './instance.ts'

export interface Balancer {
  url: string
  close(): Promise<void>
}

interface Place {
  /** Of its files. */
  folder: string
  /** `CORKBOARD_BIND`, and `CORKBOARD_NODE_1` and so on. */
  settings: Record<string, string>
  nodes: number
  tls: boolean
}

/** A file of `deploy/` with a line for each node, and the listener with TLS if wanted, as an operator changes it. */
async function deployed(name: string, { folder, settings, nodes, tls }: Place): Promise<string> {
  const file = await readFile(join(repository, 'deploy', name), 'utf8')
  const text = tls ? withTls(file, settings['CORKBOARD_BIND']!, folder) : file
  const line = /^ *server .*CORKBOARD_NODE_2.*\n/m
  const lines = (second: string) =>
    Array.from({ length: nodes - 1 }, (_, n) =>
      second.replace('node2', `node${n + 2}`).replace('NODE_2', `NODE_${n + 2}`),
    )
  return text.replace(line, (second) => lines(second).join(''))
}

/** Replaces the listener by the one in the comment beneath it, with this address and the certificate of the tests. */
function withTls(text: string, address: string, folder: string): string {
  const listener = /^ *(?:bind|listen) .*\n *# With TLS: (.*)$/m
  const [, line] = listener.exec(text)!
  return text.replace(listener, line!.replace(/:?443/, address).replaceAll(/\/etc\/\w+\//g, `${folder}/`))
}

/** Makes the files of the certificate, which is for 127.0.0.1, and makes this process trust it. */
async function makeCertificate(folder: string): Promise<void> {
  const read = (name: string) => readFile(new URL(`tls/${name}`, import.meta.url), 'utf8')
  const [certificate, key] = await Promise.all([read('certificate.pem'), read('key.pem')])
  await writeFile(join(folder, 'corkboard.pem'), certificate + key)
  await writeFile(join(folder, 'corkboard.key'), key)
  setDefaultCACertificates([...getCACertificates('default'), certificate])
}

const commands = {
  async haproxy(place: Place) {
    const file = join(place.folder, 'haproxy.cfg')
    await writeFile(file, await deployed('haproxy.cfg', place))
    return { command: '/usr/sbin/haproxy', given: ['-db', '-f', file], env: place.settings }
  },
  /** nginx reads no environment. So the names are replaced, as `envsubst` does it. */
  async nginx(place: Place) {
    const { folder, settings } = place
    const text = await deployed('nginx.conf', place)
    const replaced = text.replaceAll(/\$\{(CORKBOARD_\w+)\}/g, (_, name: string) => settings[name]!)
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

/** Starts a balancer in front of these ports, with TLS or without. It resolves when a node is ready. @throws when its program is not installed, or does not start */
export async function startBalancer(
  name: keyof typeof commands,
  nodes: readonly number[],
  { tls = false, port }: { tls?: boolean; port?: number } = {},
): Promise<Balancer> {
  const folder = await mkdtemp(join(tmpdir(), `corkboard-${name}-`))
  const address = `127.0.0.1:${port ?? (await freePort())}`
  const settings = {
    CORKBOARD_BIND: address,
    ...Object.fromEntries(nodes.map((port, n) => [`CORKBOARD_NODE_${n + 1}`, `127.0.0.1:${port}`])),
  }
  if (tls) await makeCertificate(folder)
  const { command, given, env } = await commands[name]({ folder, settings, nodes: nodes.length, tls })
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
  const url = `${tls ? 'https' : 'http'}://${address}`
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
  /** Ends the open connections. New ones are accepted. */
  drop(): void
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
    drop() {
      for (const socket of open) socket.destroy()
    },
  }
}
