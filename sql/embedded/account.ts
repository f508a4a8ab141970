import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Binaries } from './binaries.ts'

const run = promisify(execFile)

interface Owner {
  uid: number
  gid: number
}

/** The system user as which PostgreSQL runs. */
export interface Account {
  /** Owner of PostgreSQL's files; null means the user of this process. */
  owner: Owner | null
  /** Command and arguments that run a program as this user. */
  command(program: string, args: string[]): { file: string; args: string[]; uid?: number; gid?: number }
}

const sameUser: Account = { owner: null, command: (file, args) => ({ file, args }) }

/**
 * Chooses the system user as which PostgreSQL runs. PostgreSQL refuses to run as root. If this process is root, the
 * user is `postgres`, which is created if it does not exist. Otherwise it is the user of this process.
 *
 * @param folder existing folder that the account must be able to reach
 */
export async function chooseAccount(binaries: Binaries, folder: string): Promise<Account> {
  if (process.getuid?.() !== 0) {
    const fault = await tryOut(sameUser, binaries, folder)
    if (fault)
      throw new Error(
        `The embedded PostgreSQL can't run on this machine: ${fault}. Set DATABASE_URL to a PostgreSQL server instead.`,
      )
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
    `PostgreSQL can't run as root, and its user \`postgres\` can't access ${folder} or ${binaries.postgres}. ` +
      `Move them out of folders that only root may enter, or start as another user. (${fault})`,
  )
}

function switchTo(owner: Owner): Account {
  return { owner, command: (file, args) => ({ file, args, ...owner }) }
}

/**
 * Runs programs as `owner` with one capability, which lets them enter any folder. Other users cannot access a checkout
 * under /root. The alternative, opening /root to all users, would outlast the process. Many containers have only
 * `dac_override`, which also permits writing.
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

/** Returns why the account can't run PostgreSQL on the folder; empty when it can. */
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
  const options = ['--system', '--no-create-home', '--home-dir=/nonexistent', '--shell=/usr/sbin/nologin']
  const hasGroup = (await failure(run('getent', ['group', 'postgres']))) === ''
  const group = hasGroup ? ['--gid', 'postgres'] : ['--user-group']
  const fault = await failure(run('useradd', [...options, ...group, 'postgres']))
  // Look again even after a failure, because another process may have created the user at the same moment.
  const user = await findUser()
  if (user) return user
  throw new Error(
    `PostgreSQL can't run as root, and creating the system user \`postgres\` failed. Start as another user. (${fault})`,
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
