/** The service as an operator runs it: in a separate process with its own data folder, with the command line. */
import { execFile, spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { findEmbedded } from '../../sql/embedded/embedded.ts'
import { until } from './editor.ts'

export const repository = fileURLToPath(new URL('../..', import.meta.url))

export interface Outcome {
  /** Null when a signal ended the process. */
  code: number | null
  stdout: string
  stderr: string
}

export interface Instance {
  url: string
  dataDir: string
  pid: number
  stdout(): string
  stderr(): string
  ended: Promise<Outcome>
  signal(name: NodeJS.Signals): void
  /** Sends SIGTERM and waits for the end of the process. */
  stop(): Promise<Outcome>
  /** Runs `npm run -s corkboard -- …` on this instance. */
  corkboard(...args: string[]): Promise<Outcome>
}

type Environment = Record<string, string>

/** @returns a data folder. At the end of the file's tests, its server is stopped and the folder is removed */
export async function makeDataDir(cleanUp: (work: () => Promise<void>) => void): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'corkboard-instance-'))
  // As root, the embedded PostgreSQL runs as another user, who must be able to enter the folder.
  await chmod(dataDir, 0o755)
  cleanUp(async () => {
    const left = await findEmbedded(dataDir)
    if (left) process.kill(left.pid, 'SIGKILL')
    await rm(dataDir, { recursive: true, force: true })
  })
  return dataDir
}

/** A folder for one test. */
export const testDataDir = () => makeDataDir(onTestFinished)

/** Starts the command of `npm start`. The process may end by itself. @param folder the version's, if it is another one */
export function launch(dataDir: string, env: Environment = {}, folder = repository): Omit<Instance, 'url'> {
  const child = spawn(process.execPath, ['--import', './server/preflight.js', 'server/main.ts'], {
    cwd: folder,
    env: environment(dataDir, env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<Outcome>((resolve) =>
    child.once('close', (code) => resolve({ code, stdout, stderr })),
  )
  return {
    dataDir,
    pid: child.pid!,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    signal: (name) => void child.kill(name),
    stop() {
      child.kill('SIGTERM')
      return ended
    },
    corkboard: (...args) => corkboard(dataDir, args, env),
  }
}

/** Starts the service on a free port of 127.0.0.1 and waits until it is ready. @param folder as for `launch` */
export async function startInstance(
  dataDir: string,
  env: Environment = {},
  folder = repository,
): Promise<Instance> {
  const launched = launch(dataDir, { PORT: '0', ...env }, folder)
  let exit: Outcome | null = null
  void launched.ended.then((outcome) => (exit = outcome))
  let url = ''
  await until(
    async () => {
      if (exit) throw new Error(`the service ended (${exit.code}): ${exit.stderr}`)
      url = /Server listening at (http:\/\/127\.0\.0\.1:\d+)/.exec(launched.stdout())?.[1] ?? ''
      return url !== '' && (await fetch(`${url}/readyz`)).status === 200
    },
    'the service is ready',
    30_000,
  )
  return { ...launched, url }
}

export function corkboard(dataDir: string, args: string[], env: Environment = {}): Promise<Outcome> {
  return run(process.execPath, ['--import', './server/preflight.js', 'server/cli/main.ts', ...args], {
    cwd: repository,
    env: environment(dataDir, env),
  })
}

export function run(
  file: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; timeout?: number } = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(file, args, options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    )
  })
}

/** Returns an environment without the settings of the test run, and without the demo account, which takes a second. */
function environment(dataDir: string, env: Environment): NodeJS.ProcessEnv {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  return { PATH, HOME, NODE_COMPILE_CACHE, DATA_DIR: dataDir, DEMO: 'off', ...env }
}
