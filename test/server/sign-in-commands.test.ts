/** How an operator lets people sign in, and a newcomer on a fresh instance does. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser } from '../support/browser.ts'
import { until } from '../support/editor.ts'
import {
  corkboard,
  makeDataDir,
  repository,
  run,
  startInstance,
  type Instance,
  type Outcome,
} from '../support/instance.ts'

let instance: Instance

beforeAll(async () => {
  instance = await startInstance(await makeDataDir(afterAll), { DEMO: 'on' })
})

afterAll(async () => {
  await instance.stop()
})

const slow = { timeout: 120_000 }
const password = 'a pass phrase, 雪 and all'

/** A command with this on its standard input. */
function withInput(input: string, ...args: string[]): Promise<Outcome> {
  const command = `printf '%b' "$INPUT" | '${process.execPath}' --import ./server/preflight.js server/cli/main.ts "$@"`
  const { PATH, HOME } = process.env
  return run('bash', ['-c', command, 'bash', ...args], {
    cwd: repository,
    env: { PATH, HOME, DATA_DIR: instance.dataDir, INPUT: input },
  })
}

const answerOf = ({ code, stdout, stderr }: Outcome) => {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^[^\n]+\n$/)
  return JSON.parse(stdout) as Record<string, string>
}

async function signIn(email: string, typed: string, browser = new Browser(instance.url)): Promise<number> {
  const page = await browser.send('GET', '/login')
  return (await browser.post(page.form('/login'), { email, password: typed })).status
}

const isSignedIn = async (browser: Browser) => (await browser.send('GET', '/settings')).status === 200

test(
  '[SI26] user add --password-stdin makes an account that can sign in; its password is in no answer',
  slow,
  async () => {
    const outcome = await withInput(
      `${password}\\n`,
      'user',
      'add',
      '--email',
      'ada@example.com',
      '--name',
      'Ada',
      '--password-stdin',
    )
    const answer = answerOf(outcome)
    expect(Object.keys(answer)).toEqual(['user_id', 'email', 'workspace_id', 'token', 'token_id'])
    expect(outcome.stdout).not.toContain('pass phrase')
    expect(await signIn('ada@example.com', password)).toBe(303)
    expect(await signIn('ada@example.com', `${password}\n`)).toBe(422)
    // Without one nobody can.
    answerOf(await instance.corkboard('user', 'add', '--email', 'ben@example.com', '--name', 'Ben'))
    expect(await signIn('ben@example.com', '')).toBe(422)
  },
)

test(
  '[SI26] user passwd sets a password from standard input, and ends the sessions of the account',
  slow,
  async () => {
    answerOf(
      await withInput(
        password,
        'user',
        'add',
        '--email',
        'cleo@example.com',
        '--name',
        'Cleo',
        '--password-stdin',
      ),
    )
    const browser = new Browser(instance.url)
    expect(await signIn('cleo@example.com', password, browser)).toBe(303)
    expect(await isSignedIn(browser)).toBe(true)
    const answer = answerOf(
      await withInput('another pass phrase\\r\\n', 'user', 'passwd', '--email', 'CLEO@example.com'),
    )
    expect(Object.keys(answer)).toEqual(['user_id', 'email'])
    expect(await isSignedIn(browser)).toBe(false)
    expect(await signIn('cleo@example.com', password)).toBe(422)
    expect(await signIn('cleo@example.com', 'another pass phrase')).toBe(303)
  },
)

test('[SI26] user link prints a link that works, once, and a newer one replaces it', slow, async () => {
  answerOf(await instance.corkboard('user', 'add', '--email', 'dora@example.com', '--name', 'Dora'))
  const link = async (...more: string[]) =>
    answerOf(
      await corkboard(instance.dataDir, ['user', 'link', '--email', 'dora@example.com', ...more], {
        PUBLIC_URL: instance.url,
      }),
    )
  const [old, made] = [await link(), await link('--ttl-hours', '2')]
  expect(Object.keys(made)).toEqual(['user_id', 'email', 'url', 'expires_at'])
  expect(made['url']!.startsWith(`${instance.url}/login/link?code=`)).toBe(true)
  const hours = (Date.parse(made['expires_at']!) - Date.now()) / 3_600_000
  expect(hours).toBeGreaterThan(1.9)
  expect(hours).toBeLessThanOrEqual(2)
  const path = ({ url }: Record<string, string>) => url!.slice(instance.url.length)
  const browser = new Browser(instance.url)
  expect((await browser.open(path(old))).status).toBe(410)
  const page = await browser.open(path(made))
  expect((await browser.post(page.form('/login/link'), { password })).status).toBe(303)
  expect(await isSignedIn(browser)).toBe(true)
  expect((await browser.open(path(made))).status).toBe(410)
})

test('[SI26] what is no password is refused, and so is one on the command line', slow, async () => {
  const account = ['--email', 'eve@example.com']
  const add = ['user', 'add', ...account, '--name', 'Eve']
  const refused = (fault: string) => ({ code: 1, stdout: '', stderr: `corkboard: ${fault}\n` })
  const short = refused('A password must have 12 to 1000 characters.')
  expect(await withInput('too short\\n', ...add, '--password-stdin')).toEqual(short)
  expect(await withInput('', 'user', 'passwd', ...account)).toEqual(short)
  const lines = await withInput('twelve characters\\nand a line\\n', 'user', 'passwd', ...account)
  expect(lines).toEqual(
    refused('A password must be one line, and standard input has several. Send the password alone.'),
  )
  expect((await withInput('', ...add, '--password', password)).code).toBe(2)
  expect((await withInput('', 'user', 'passwd', ...account, password)).code).toBe(2)
  const unknown = refused('There is no account with the e-mail eve@example.com.')
  expect(await withInput(password, 'user', 'passwd', ...account)).toEqual(unknown)
  expect(await instance.corkboard('user', 'link', ...account)).toEqual(unknown)
  const hours = await instance.corkboard('user', 'link', ...account, '--ttl-hours', '169')
  expect([hours.code, hours.stderr]).toEqual([2, expect.stringContaining('1 to 168')])
})

test(
  '[PG10] user link prints the address of the running instance, and without one that of the configuration',
  slow,
  async () => {
    const own = await startInstance(await makeDataDir(afterAll))
    answerOf(await own.corkboard('user', 'add', '--email', 'fay@example.com', '--name', 'Fay'))
    const link = (env: Record<string, string>) =>
      corkboard(own.dataDir, ['user', 'link', '--email', 'fay@example.com'], env)
    const linkAt = async (env: Record<string, string>) => new URL(answerOf(await link(env))['url']!).origin
    expect(await linkAt({})).toBe(own.url)
    expect(await linkAt({ PORT: '4999' })).toBe(own.url)
    expect(await linkAt({ PUBLIC_URL: 'https://boards.example' })).toBe('https://boards.example')
    // A process that was killed leaves its address behind, which no longer counts.
    own.signal('SIGKILL')
    await own.ended
    expect(await linkAt({ PORT: '4999' })).toBe('http://127.0.0.1:4999')
    expect(await link({ PORT: '0' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('set PUBLIC_URL'),
    })
    // Behind a proxy the running instance is reached by its public address.
    const proxied = await startInstance(own.dataDir, { PUBLIC_URL: 'https://proxied.example' })
    expect(await linkAt({})).toBe('https://proxied.example')
    await proxied.stop()
    expect(await linkAt({})).toBe('http://127.0.0.1:4000')
  },
)

test(
  '[SI27] the first start prints, outside the log, a link by which a newcomer gets onto the demo board',
  slow,
  async () => {
    await until(() => instance.stderr().includes('/login/link'), 'the link is printed')
    const [url = ''] = /http:\S+\/login\/link\?code=\S+/.exec(instance.stderr()) ?? []
    expect(url).toMatch(
      new RegExp(`^${instance.url}/login/link\\?code=[\\w-]{43}&next=/app/boards/[0-9a-f-]{36}$`),
    )
    const browser = new Browser(instance.url)
    const page = await browser.open(url.slice(instance.url.length))
    expect(page.text).toContain('demo@corkboard.local')
    const board = await browser.submit(page.form('/login/link'))
    expect(board.path).toBe(url.split('&next=')[1])
    const code = /code=([^&]+)/.exec(url)![1]!
    await until(() => instance.stdout().includes('"path":"/login/link"'), 'the log has the request')
    for (const secret of [code, (await browser.cookie('corkboard_session'))!])
      expect(instance.stdout()).not.toContain(secret)
  },
)
