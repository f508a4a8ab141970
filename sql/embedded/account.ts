import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Binaries } from './binaries.ts'

const run = promisify(execFile)

interface Owner {
  uid: number
  gid: number
}

/** The system user that PostgreSQL runs as. */
export interface Account {
  /** Owner of its files; null for the user of this process. */
  owner: Owner | null
  /** Command and arguments that run a program as this user. */
  command(program: string, args: string[]): { file: string; args: string[]; uid?: number; gid?: number }
}

const sameUser: Account = { owner: null, command: (file, args) => ({ file, args }) }

/**
 * PostgreSQL refuses to run as root. As root, its programs run as the system user `postgres`, which is made
 * when there is none; otherwise as the user of this process.
 *
 * @param folder existing folder that the account must be able to reach
 */
export async function chooseAccount(binaries: Binaries, folder: string): Promise<Account> {
  if (process.getuid?.() !== 0) {
    const fault = await tryOut(sameUser, binaries, folder)
    if (fault) throw new Error(`The embedded PostgreSQL can't be run here: ${fault}`)
    return sameUser
  }

  const owner = (await findUser()) ?? (await createUser())
  const accounts = [
    switchTo(owner),
    switchWithCapability(owner, 'dac_read_search'),
    switchWithCapability(owner, 'dac_override'),
  ]
  let fault = ''
  for (const account of accounts) {
    fault = await tryOut(account, binaries, folder)
    if (!fault) return account
  }
  throw new Error(
    `PostgreSQL can't run as root, and its user \`postgres\` can't reach ${folder} or ${binaries.postgres}: ` +
      `move them out of folders that only root may enter, or start as another user. (${fault})`,
  )
}

function switchTo(owner: Owner): Account {
  return { owner, command: (file, args) => ({ file, args, ...owner }) }
}

/**
 * A checkout under /root is out of reach for every other user. As root may go anywhere, it hands that right on,
 * and no other: the alternative, opening /root to everybody, would outlast the process. Containers often know
 * `dac_override` only, which includes writing.
 */
function switchWithCapability(owner: Owner, capability: 'dac_read_search' | 'dac_override'): Account {
  const only = `-all,+${capability}`
  const options = [
    `--reuid=${owner.uid}`,
    `--regid=${owner.gid}`,
    '--clear-groups',
    `--inh-caps=${only}`,
    `--ambient-caps=${only}`,
  ]
  return { owner, command: (file, args) => ({ file: 'setpriv', args: [...options, '--', file, ...args] }) }
}

/** Why the account can't run PostgreSQL on the folder; empty when it can. */
async function tryOut(account: Account, { postgres }: Binaries, folder: string): Promise<string> {
  const script = 'cd "$1" && "$2" --version'
  const { file, args, ...user } = account.command('sh', ['-c', script, 'sh', folder, postgres])
  return failure(run(file, args, { ...user, cwd: '/' }))
}

async function findUser(): Promise<Owner | null> {
  try {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'postgres'])))
    return { uid: Number(uid!.stdout), gid: Number(gid!.stdout) }
  } catch {
    return null
  }
}

async function createUser(): Promise<Owner> {
  const options = [
    '--system',
    '--no-create-home',
    '--home-dir',
    '/nonexistent',
    '--shell',
    '/usr/sbin/nologin',
  ]
  const hasGroup = (await failure(run('getent', ['group', 'postgres']))) === ''
  const group = hasGroup ? ['--gid', 'postgres'] : ['--user-group']
  const fault = await failure(run('useradd', [...options, ...group, 'postgres']))
  // Asked again even after a failure: another process may have made it at the same moment.
  const user = await findUser()
  if (user) return user
  throw new Error(
    `PostgreSQL can't run as root, and making the system user \`postgres\` for it failed: start as another user. (${fault})`,
  )
}

async function failure(running: Promise<unknown>): Promise<string> {
  try {
    await running
    return ''
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    return (stderr || message).trim()
  }
}
