/** The client as npm would publish it, installed in a project beside its peers, and what a browser needs of them. */
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, extname, join } from 'node:path'
import { repository, run, type Outcome } from '../support/instance.ts'

export interface Project {
  folder: string
  /** The files of the package. */
  files: string[]
  close(): Promise<void>
}

const peers = ['yjs', '@hocuspocus', 'react', 'react-dom', 'y-indexeddb', 'ws']
const modules = join(repository, 'node_modules')

export async function packedProject(): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'corkboard-project-'))
  const target = join(folder, 'node_modules/@corkboard/client')
  await mkdir(target, { recursive: true })
  // Packing writes beside the sources. In a copy, test files don't meet there.
  const source = join(folder, 'source')
  await cp(join(repository, 'client'), join(source, 'client'), { recursive: true })
  await cp(join(repository, 'tsconfig.json'), join(source, 'tsconfig.json'))
  await symlink(modules, join(source, 'node_modules'))
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: join(source, 'client'),
  })
  if (packed.code !== 0) throw new Error(`npm pack failed: ${packed.stdout} ${packed.stderr}`)
  // What `prepack` prints comes first.
  const [{ filename, files }] = Object.values(
    JSON.parse(packed.stdout.slice(packed.stdout.search(/^[[{]/m))),
  ) as [{ filename: string; files: { path: string }[] }]
  await run('tar', ['-xzf', join(folder, filename), '-C', target, '--strip-components=1'])
  for (const name of peers) await symlink(join(modules, name), join(folder, 'node_modules', name))
  return {
    folder,
    files: files.map(({ path }) => path),
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Runs a program with the Node of the machine, which may be older than that of the project. */
export async function runOnHost(
  project: Project,
  args: string[],
  env: Record<string, string> = {},
): Promise<Outcome> {
  return run(hostNode(), args, {
    cwd: project.folder,
    env: { ...hostEnvironment(), ...env },
    timeout: 30_000,
  })
}

export function hostNode(): string {
  const folders = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((path) => !path.includes('node_modules'))
  return folders.map((path) => join(path, 'node')).find(existsSync) ?? process.execPath
}

const hostEnvironment = () => ({ PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' })

/** Serves the project, and below `/modules/` the packages of the repository. Other paths are answered by `pages`. */
export async function serveProject(
  project: Project,
  pages: Map<string, string | RequestListener>,
): Promise<{ url: string; close(): Promise<void> }> {
  const types: Record<string, string> = {
    '.js': 'text/javascript',
    '.mjs': 'text/javascript',
    '.css': 'text/css',
  }
  const server = createServer((request, response) => {
    void (async () => {
      const path = new URL(request.url ?? '/', 'http://localhost').pathname
      const page = pages.get(path)
      if (typeof page === 'function') return page(request, response)
      if (page !== undefined) return response.writeHead(200, { 'content-type': 'text/html' }).end(page)
      const file = path.startsWith('/modules/') ? join(modules, path.slice(9)) : join(project.folder, path)
      const text = await readFile(file).catch(() => null)
      if (text === null) return response.writeHead(path === '/favicon.ico' ? 204 : 404).end()
      return response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/html' }).end(text)
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Target = string | { [condition: string]: Target } | null

/** An import map for everything that the editor part imports, as a CDN would resolve it. */
export async function importMap(): Promise<{ imports: Record<string, string> }> {
  const imports: Record<string, string> = {
    '@corkboard/client': '/node_modules/@corkboard/client/dist/index.js',
    '@corkboard/client/editor': '/node_modules/@corkboard/client/dist/editor/index.js',
    '@lifeomic/attempt': '/modules/@lifeomic/attempt/dist/es6/src/index.js',
  }
  for (const name of [
    'yjs',
    'lib0',
    'y-protocols',
    '@hocuspocus/provider',
    '@hocuspocus/common',
    'y-indexeddb',
  ]) {
    const { exports } = JSON.parse(await readFile(join(modules, name, 'package.json'), 'utf8')) as {
      exports: Record<string, Target>
    }
    const entries =
      '.' in exports || Object.keys(exports).some((key) => key.startsWith('.')) ? exports : { '.': exports }
    for (const [entry, target] of Object.entries(entries)) {
      const path = targetOf(target as Target)
      if (path && !entry.includes('*')) imports[join(name, entry)] = join('/modules', name, path)
    }
  }
  return { imports }
}

function targetOf(target: Target): string | null {
  if (target === null || typeof target === 'string') return target
  for (const condition of ['browser', 'module', 'import', 'default']) {
    const found = condition in target ? targetOf(target[condition]!) : null
    if (found) return found
  }
  return null
}
