/** How an operator lets people sign in, and a newcomer on a fresh instance does. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser } from '../support/browser.ts'
import { until } from '../support/editor.ts'
import {
  makeDataDir,
  repository,
  run,
  startInstance,
  type Instance,
  type Outcome,
} from '../support/instance.ts'

let instance: Instance

beforeAll(async () => {
  instance = await startInstance(await makeDataDir(afterAll))
})

afterAll(async () => {
  await instance.stop()
})

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

test('[SI26] user add --password-stdin makes an account that can sign in; its password is in no answer', async () => {
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
})

test('[SI26] user passwd sets a password from standard input, and ends the sessions of the account', async () => {
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
})

test('[SI26] user link prints a link that works, once, and a newer one replaces it', async () => {
  answerOf(await instance.corkboard('user', 'add', '--email', 'dora@example.com', '--name', 'Dora'))
  const old = answerOf(await instance.corkboard('user', 'link', '--email', 'dora@example.com'))
  const made = answerOf(
    await instance.corkboard('user', 'link', '--email', 'dora@example.com', '--ttl-hours', '2'),
  )
  expect(Object.keys(made)).toEqual(['user_id', 'email', 'url', 'expires_at'])
  expect(made['url']).toMatch(/^http:\/\/127\.0\.0\.1:4000\/login\/link\?code=[\w-]{43}$/) // where it listens by default
  const hours = (Date.parse(made['expires_at']!) - Date.now()) / 3_600_000
  expect(hours).toBeGreaterThan(1.9)
  expect(hours).toBeLessThanOrEqual(2)
  const path = ({ url }: Record<string, string>) => url!.slice('http://127.0.0.1:4000'.length)
  const browser = new Browser(instance.url)
  expect((await browser.open(path(old))).status).toBe(410)
  const page = await browser.open(path(made))
  expect((await browser.post(page.form('/login/link'), { password })).status).toBe(303)
  expect(await isSignedIn(browser)).toBe(true)
  expect((await browser.open(path(made))).status).toBe(410)
})

test('[SI26] what is no password is refused, and so is one on the command line', async () => {
  const add = ['user', 'add', '--email', 'eve@example.com', '--name', 'Eve', '--password-stdin']
  for (const [input, fault] of [
    ['', 'A password has 12 to 1000 characters.'],
    ['too short\\n', 'A password has 12 to 1000 characters.'],
    ['twelve characters\\nand another line\\n', 'A password is one line; standard input holds more.'],
    ['aaaaaaaaaaaaaaaa', 'This password is too easy to guess.'],
  ] as const) {
    expect(await withInput(input, ...add)).toEqual({ code: 1, stdout: '', stderr: `corkboard: ${fault}\n` })
    const passwd = await withInput(input, 'user', 'passwd', '--email', 'demo@corkboard.local')
    expect(passwd).toEqual({ code: 1, stdout: '', stderr: `corkboard: ${fault}\n` })
  }
  expect((await withInput(password, ...add.slice(0, -1), '--password', password)).code).toBe(2)
  expect(
    (await withInput(password, 'user', 'passwd', '--email', 'demo@corkboard.local', password)).code,
  ).toBe(2)
  expect((await withInput(password, ...add.slice(0, -1), `--password-stdin=${password}`)).code).toBe(2)
  for (const command of ['passwd', 'link']) {
    const unknown = await withInput(password, 'user', command, '--email', 'eve@example.com')
    expect(unknown).toEqual({
      code: 1,
      stdout: '',
      stderr: 'corkboard: There is no account with the e-mail eve@example.com.\n',
    })
  }
  for (const hours of ['0', '169', 'x']) {
    const outcome = await instance.corkboard(
      'user',
      'link',
      '--email',
      'eve@example.com',
      '--ttl-hours',
      hours,
    )
    expect([outcome.code, outcome.stderr]).toEqual([2, expect.stringContaining('--ttl-hours')])
  }
})

test('[SI27] the first start prints, outside the log, a link by which a newcomer gets into the demo account', async () => {
  await until(() => instance.stderr().includes('/login/link'), 'the link is printed')
  const [url = ''] = /http:\S+\/login\/link\?code=\S+/.exec(instance.stderr()) ?? []
  expect(url).toMatch(new RegExp(`^${instance.url}/login/link\\?code=[\\w-]{43}$`))
  const browser = new Browser(instance.url)
  const page = await browser.open(url.slice(instance.url.length))
  const settings = await browser.submit(page.form('/login/link'), { password })
  expect([settings.status, settings.path]).toEqual([200, '/settings'])
  expect(settings.text).toContain('demo@corkboard.local')
  const code = url.split('=')[1]!
  await until(() => instance.stdout().includes('"path":"/login/link"'), 'the log has the request')
  for (const secret of [code, password, (await browser.cookie('corkboard_session'))!])
    expect(instance.stdout()).not.toContain(secret)
})
