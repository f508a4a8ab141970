/** Invitations to workspaces and boards: who accepts them, with and without an account, and by mail. */
import { expect, test } from 'vitest'
import { openMailer } from '../../platform/mail.ts'
import { openPasswords } from '../../platform/secrets/passwords.ts'
import { Browser, type Shown } from '../support/browser.ts'
import { until } from '../support/editor.ts'
import { freePort } from '../support/free-port.ts'
import { logLines } from '../support/log-lines.ts'
import { openMailbox } from '../support/mailbox.ts'
import type { TestUser } from '../support/service.ts'
import { forFile, serviceOfFile } from '../support/test-file.ts'
import { makeBoard, succeeded } from './board.ts'
import { person, quickCost, rightPassword, signIn, statuses } from './sign-in.ts'

const mailbox = await forFile(openMailbox())
const logged = logLines('debug')
const { service } = await serviceOfFile({
  workers: false,
  log: logged.log,
  passwords: openPasswords(quickCost),
  config: { smtp: { url: mailbox.url, from: 'corkboard@example.test' } },
})
const { service: plain } = await serviceOfFile({ workers: false, passwords: openPasswords(quickCost) })

let addresses = 0
const newAddress = () => `new${(addresses += 1)}@example.test`
const pathOf = ({ workspaceId }: TestUser) => `/workspaces/${workspaceId}/invitations`

/** Makes an invitation on the service without a mail server. @returns the path of its page */
async function invite(owner: TestUser, fields: Record<string, unknown> = {}): Promise<string> {
  const made = succeeded(await owner.api.post(pathOf(owner), { role: 'editor', ...fields }))
  return made.url.replace(plain.homeUrl, '')
}

const acceptIn = async (browser: Browser, link: string): Promise<Shown> => {
  const page = await browser.open(link)
  return page.status === 200 ? browser.post(page.form('/login/invitation'), {}) : page
}
const signUp = async (link: string, fields: Record<string, string> = {}) => {
  const browser = new Browser(plain.homeUrl)
  const form = (await browser.open(link)).form('/login/invitation/sign-up')
  const answer = await browser.post(form, { name: 'Nora', password: rightPassword, ...fields })
  return { browser, answer }
}
const roleOf = async (owner: TestUser, email: string) =>
  (await owner.api.get(`/workspaces/${owner.workspaceId}/members`)).body.members.find(
    (one: any) => one.email === email,
  )?.role

test('[IN1] an invitation and its page are the same whether the address has an account', async () => {
  const owner = await plain.user()
  const known = await person(plain)
  const answers = await Promise.all(
    [known.email, newAddress()].map((email) => owner.api.post(pathOf(owner), { email, role: 'viewer' })),
  )
  const pages = await Promise.all(
    answers.map(({ body }) =>
      new Browser(plain.homeUrl).open((body['url'] as unknown as string).replace(plain.homeUrl, '')),
    ),
  )
  const shapes = answers.map(({ status, text, body }, n) => {
    const { email, id } = body['invitation'] as any
    const comparable = (shown: string) =>
      shown
        .replaceAll(email, 'EMAIL')
        .replaceAll(id, 'ID')
        .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
        .replace(/code(=|%3D|" value=")[\w-]+/g, 'CODE')
        .replace(/name="csrf" value="[^"]+"/g, 'CSRF')
    return [status, comparable(text), pages[n]!.status, comparable(pages[n]!.text)]
  })
  expect(shapes[0]).toEqual(shapes[1])
  expect(shapes[0]![0]).toBe(201)
})

test('[IN2] an account makes 20 invitations in an hour, at once too, and revoked ones count', async () => {
  const owner = await plain.user()
  const first = succeeded(await owner.api.post(pathOf(owner), { role: 'viewer' })).invitation
  expect((await owner.api.delete(`${pathOf(owner)}/${first.id}`)).status).toBe(200)
  const answers = await Promise.all(
    Array.from({ length: 24 }, () => owner.api.post(pathOf(owner), { role: 'viewer' })),
  )
  expect(statuses(answers)).toEqual([...Array<number>(19).fill(201), ...Array<number>(5).fill(429)])
  const refused = answers.find(({ status }) => status === 429)!
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3500)
  await plain.admin`update invitations set created_at = created_at - interval '1 hour' where id = ${first.id}`
  expect((await owner.api.post(pathOf(owner), { role: 'viewer' })).status).toBe(201)
  expect((await owner.api.post(pathOf(owner), { role: 'viewer' })).status).toBe(429)
})

test('[IN3] an invitation is accepted once, by the account with its address, while its owner stands by it', async () => {
  const [owner, ben, other] = [await plain.user(), await person(plain), await person(plain)]
  for (const { browser, email } of [ben, other]) await signIn(browser, { email })
  const link = await invite(owner, { email: ben.email.toUpperCase() })
  const foreign = await other.browser.open(link)
  expect(foreign.text).toContain(`you are signed in as ${other.email}`)
  expect(foreign.forms.map(({ action }) => action)).not.toContain('/login/invitation')
  expect((await owner.api.get(pathOf(owner))).body.invitations).toMatchObject([
    { role: 'editor', board_id: null },
  ])
  const visitor = new Browser(plain.homeUrl)
  const page = await visitor.open(link)
  const path = /href="(\/login\?next=[^"]+)"/.exec(page.text)![1]!
  const back = await visitor.submit((await visitor.open(path)).form('/login'), {
    email: ben.email,
    password: rightPassword,
  })
  expect(back.path).toBe(link)
  const accepts = await Promise.all([acceptIn(visitor, link), acceptIn(ben.browser, link)])
  expect(statuses(accepts)).toEqual([200, 410])
  expect(await roleOf(owner, ben.email)).toBe('editor')
  expect((await owner.api.get(pathOf(owner))).body.invitations).toEqual([])
  expect((await ben.api.get('/workspaces')).body.workspaces.length).toBe(2)

  // Without an address it is for any account.
  expect((await acceptIn(other.browser, await invite(owner, { role: 'viewer' }))).status).toBe(200)
  expect(await roleOf(owner, other.email)).toBe('viewer')
  const ends: [string, (id: string) => PromiseLike<unknown>][] = [
    ['revoked', (id) => owner.api.delete(`${pathOf(owner)}/${id}`)],
    ['expired', (id) => plain.admin`update invitations set expires_at = now() where id = ${id}`],
    ['given away', () => plain.member(owner.workspaceId, other, 'owner')],
  ]
  for (const [what, end] of ends) {
    const dead = await invite(owner)
    const [{ id }] = (await owner.api.get(pathOf(owner))).body.invitations
    await end(id)
    const answer = await acceptIn(ben.browser, dead)
    expect([what, answer.status]).toEqual([what, 410])
  }
})

test('[IN4] who has no account makes one, with the address that was invited, and is signed in', async () => {
  const owner = await plain.user({ name: 'Olga' })
  const email = newAddress()
  const link = await invite(owner, { email })
  for (const [fields, says] of [
    [{ name: ' ' }, 'Your name must have'],
    [{ password: 'short' }, '12 to 1000'],
  ] as const) {
    const { answer } = await signUp(link, fields)
    expect(answer.status).toBe(422)
    expect(answer.text).toContain(says)
  }
  const { browser, answer } = await signUp(link, { email: 'other@example.test' })
  expect(answer.status).toBe(200)
  expect((await browser.open('/settings')).text).toContain(`Nora (${email})`)
  expect(await roleOf(owner, email)).toBe('editor')
  expect((await signIn(new Browser(plain.homeUrl), { email })).status).toBe(303)
  expect((await new Browser(plain.homeUrl).open(link)).status).toBe(410)
  const taken = await signUp(await invite(owner, { email }))
  expect([taken.answer.status, taken.answer.text.includes('has an account already')]).toEqual([422, true])
  const open = await new Browser(plain.homeUrl).open(await invite(owner))
  expect(open.forms).toEqual([])
  const entries = (await owner.api.get('/audit')).body.entries
  expect(entries.map(({ action, actor }: any) => [action, actor.display_name])).toContainEqual([
    'invitation.accept',
    'Nora',
  ])
})

test('[IN5] an invitation to a board shares that board alone, with the history that it promises', async () => {
  const owner = await plain.user()
  const board = await makeBoard(owner)
  const child = await makeBoard(owner, { parent_board_id: board.id })
  const ben = await person(plain)
  await signIn(ben.browser, ben)
  const link = await invite(owner, { email: ben.email, role: 'viewer', board_id: board.id, history: true })
  const { text } = await acceptIn(ben.browser, link)
  expect(text).toContain('is shared with you')
  expect(text).toContain(`href="/app/boards/${board.id}"`)
  expect((await ben.api.get(`/boards/${board.id}/history`)).status).toBe(200)
  expect((await ben.api.get(`/boards/${child.id}`)).status).toBe(404)
  const elsewhere = await makeBoard(await plain.user())
  const attempt = (fields: object) => owner.api.post(pathOf(owner), { role: 'viewer', ...fields })
  expect((await attempt({ board_id: elsewhere.id })).status).toBe(404)
  for (const bad of [
    { email: 'no address' },
    { email: 'a@b, c@d' },
    { role: 'owner' },
    { role: 'owner', email: ben.email, board_id: board.id },
    { role: 'admin' },
  ])
    expect([bad, (await attempt(bad)).status]).toEqual([bad, 400])
})

test('[IN6] a workspace has another owner only when the person accepts', async () => {
  const owner = await plain.user()
  const ben = await person(plain)
  await signIn(ben.browser, ben)
  const link = await invite(owner, { email: ben.email, role: 'owner' })
  expect(await roleOf(owner, owner.email)).toBe('owner')
  expect((await ben.browser.open(link)).text).toContain('make you the owner')
  expect((await acceptIn(ben.browser, link)).text).toContain('You own the workspace')
  expect((await owner.api.get(`/workspaces/${owner.workspaceId}/members`)).status).toBe(403)
  const { members } = (await ben.api.get(`/workspaces/${owner.workspaceId}/members`)).body
  expect(members.map(({ email, role }: any) => [email, role])).toEqual([
    [ben.email, 'owner'],
    [owner.email, 'editor'],
  ])
})

test('[IN9] an account accepts with a token; codes that do not work are answered the same, and tries are bounded', async () => {
  const owner = await plain.user()
  const [ben, other] = [await plain.user(), await plain.user()]
  const accept = (who: TestUser, code: string, headers = {}) =>
    who.api.post('/invitations/accept', { code }, headers)
  const codeOf = async (fields: object = {}) => (await invite(owner, { ...fields })).split('code=')[1]!
  const forBen = await codeOf({ email: ben.email.toUpperCase(), role: 'viewer' })
  expect((await accept(other, forBen)).status).toBe(403)
  const board = await makeBoard(owner)
  const key = { 'idempotency-key': 'accept' }
  const answers = [await accept(ben, forBen, key), await accept(ben, forBen, key)]
  const given = { workspace_id: owner.workspaceId, board_id: null, role: 'viewer' }
  expect(answers.map(({ status, body }) => [status, body])).toEqual([
    [200, given],
    [200, given],
  ])
  expect(await roleOf(owner, ben.email)).toBe('viewer')
  const open = await codeOf({ role: 'editor', board_id: board.id })
  expect((await accept(other, open)).body).toEqual({
    workspace_id: owner.workspaceId,
    board_id: board.id,
    role: 'editor',
  })
  expect((await other.api.patch(`/boards/${board.id}`, { name: 'Theirs too' })).status).toBe(200)
  const [expired, revoked] = [await codeOf(), await codeOf()]
  const [{ id }] = (await owner.api.get(pathOf(owner))).body.invitations
  await owner.api.delete(`${pathOf(owner)}/${id}`)
  await plain.admin`update invitations set expires_at = now() where id <> ${id}`
  const guesser = await plain.user()
  const wrong: unknown[] = []
  for (const code of [forBen, expired, revoked, 'none', '']) {
    const { status, body } = await accept(guesser, code)
    wrong.push([status, body['code'], body['error']])
  }
  expect(new Set(wrong.map((one) => JSON.stringify(one))).size).toBe(1)
  expect(wrong[0]).toEqual([404, 'not_found', expect.any(String)])
  const more = await Promise.all(Array.from({ length: 10 }, () => accept(guesser, 'none')))
  expect(statuses(more)).toEqual([...Array<number>(5).fill(404), ...Array<number>(5).fill(429)])
  const { entries } = (await owner.api.get('/audit')).body
  expect(entries.filter(({ action }: any) => action === 'invitation.accept')).toHaveLength(2)
})

test('[IN10] a new invitation of an address takes the place of an earlier one to the same place', async () => {
  const owner = await plain.user()
  const board = await makeBoard(owner)
  const ben = await person(plain)
  await signIn(ben.browser, ben)
  const listed = async () =>
    (await owner.api.get(pathOf(owner))).body.invitations.map((one: any) => [one.role, one.board_id])
  const anybody = await invite(owner, { role: 'viewer' })
  const toBoard = await invite(owner, { email: ben.email, role: 'viewer', board_id: board.id })
  const first = await invite(owner, { email: ben.email, role: 'editor' })
  const second = await invite(owner, { email: ben.email.toUpperCase(), role: 'viewer' })
  expect(await listed()).toEqual([
    ['viewer', null],
    ['viewer', board.id],
    ['viewer', null],
  ])
  expect((await ben.browser.open(first)).status).toBe(410)
  expect((await acceptIn(ben.browser, second)).status).toBe(200)
  expect(await roleOf(owner, ben.email)).toBe('viewer')
  for (const link of [toBoard, anybody]) expect((await ben.browser.open(link)).status).toBe(200)
})

test('[IN10] an invitation whose mail can not be sent leaves the earlier one', async () => {
  const owner = await service.user()
  const email = newAddress()
  succeeded(await owner.api.post(pathOf(owner), { email, role: 'viewer' }))
  const code = /code=([\w-]{43})/.exec((await mailbox.next()).body)![1]!
  mailbox.refuse = true
  const refused = await owner.api.post(pathOf(owner), { email, role: 'editor' })
  mailbox.refuse = false
  expect(refused.status).toBe(502)
  expect((await owner.api.get(pathOf(owner))).body.invitations).toMatchObject([{ email, role: 'viewer' }])
  expect((await new Browser(service.homeUrl).open(`/login/invitation?code=${code}`)).status).toBe(200)
})

test('[IN7] the link goes by mail to the address alone, whatever people wrote', async () => {
  const owner = await service.user({ name: 'Eve\r\nBcc: third@example.test' })
  await service.admin`update workspaces set name = ${'A\nSubject: b'} where id = ${owner.workspaceId}`
  const email = newAddress()
  const answer = await owner.api.post(pathOf(owner), { email, role: 'viewer' })
  expect([answer.status, answer.body]).toMatchObject([201, { sent: true, url: null }])
  const mail = await mailbox.next()
  expect(mail.receivers).toEqual([email])
  const head = mail.text.split('\r\n\r\n', 1)[0]!
  expect(head.match(/^(from|to|subject|bcc):.*/gim)).toEqual([
    expect.stringMatching(/^From: corkboard@example.test$/),
    `To: ${email}`,
    expect.stringMatching(/^Subject: =\?UTF-8\?Q\?Invitation_to_the_workspace/),
  ])
  expect(mail.body).toContain(owner.email)
  const code = /\/login\/invitation\?code=([\w-]{43})/.exec(mail.body)![1]!
  const browser = new Browser(service.homeUrl)
  expect((await browser.open(`/login/invitation?code=${code}`)).status).toBe(200)
  expect(answer.text).not.toContain(code)

  mailbox.refuse = true
  const refused = await owner.api.post(pathOf(owner), { email: newAddress(), role: 'viewer' })
  mailbox.refuse = false
  expect([refused.status, refused.body['code']]).toEqual([502, 'upstream_rejected'])
  expect((await owner.api.get(pathOf(owner))).body.invitations.length).toBe(1)
  const nobody = openMailer(`smtp://127.0.0.1:${await freePort()}`, 'corkboard@example.test')
  const lost = nobody.send({ to: email, subject: 'a', text: 'b' })
  await expect(lost).rejects.toMatchObject({ code: 'upstream_error' })
})

test('[IN8] the code is neither in the log, nor in the audit, nor in the database', async () => {
  const owner = await service.user()
  const { url } = succeeded(await owner.api.post(pathOf(owner), { role: 'viewer' }))
  const { searchParams, pathname, search } = new URL(url)
  const ben = await person(service)
  await signIn(ben.browser, { ...ben, next: pathname + search })
  await acceptIn(ben.browser, pathname + search)
  await until(() => logged.about('/login/invitation').length >= 2, 'the requests are logged')
  const code = searchParams.get('code')!
  expect(logged.about(code)).toEqual([])
  const kept = await service.admin`
    select (select json_agg(i) from invitations i)::text || (select json_agg(a) from audit_operations a)::text as text`
  expect(kept[0]!['text']).not.toContain(code)
})
