/** The settings of a workspace: its members, invitations and guest links. */
import { expect, test } from 'vitest'
import { openPasswords } from '../../platform/secrets/passwords.ts'
import type { Shown } from '../support/browser.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard } from './board.ts'
import { open } from './links.ts'
import { person, quickCost, signIn, type Person } from './sign-in.ts'

const { service } = await serviceOfFile({ workers: false, passwords: openPasswords(quickCost) })

async function signedIn(): Promise<Person> {
  const made = await person(service)
  await signIn(made.browser, made)
  return made
}

const pageOf = ({ workspaceId }: { workspaceId: string }) => `/settings/workspace?id=${workspaceId}`
const secretIn = ({ text }: Shown) => /<code class="secret"\s*>([^<]+)<\/code\s*>/.exec(text)![1]!
const linkTo = ({ text }: Shown, path: string): string =>
  [...text.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href).find((href) => href.startsWith(path))!
const confirm = async ({ browser }: Person, shown: Shown, path: string): Promise<Shown> =>
  browser.submit((await browser.open(linkTo(shown, path))).forms[0]!)
const members = async ({ api, workspaceId }: Person) =>
  (await api.get(`/workspaces/${workspaceId}/members`)).body.members.map(({ email, role }: any) => [
    email,
    role,
  ])

test('[SI28] the owner manages the members of a workspace, and a member leaves it', async () => {
  const [owner, ben, cleo] = [await signedIn(), await signedIn(), await service.user()]
  await service.member(owner.workspaceId, ben, 'viewer')
  await service.member(owner.workspaceId, cleo, 'viewer')
  const settings = await owner.browser.open('/settings')
  expect(linkTo(settings, '/settings/workspace')).toBe(pageOf(owner))
  const shown = await owner.browser.open(pageOf(owner))
  const form = shown.forms.find(({ fields }) => fields.some(([, value]) => value.endsWith(ben.userId)))!
  const changed = await owner.browser.submit(form)
  expect(changed.path).toBe(`${pageOf(owner)}#members`)
  expect(await members(owner)).toContainEqual([ben.email, 'editor'])
  const left = await confirm(ben, await ben.browser.open('/settings'), '/settings/workspaces/leave')
  expect(left.path).toBe('/settings#workspaces')
  expect(await members(owner)).toEqual([
    [owner.email, 'owner'],
    [cleo.email, 'viewer'],
  ])
  await confirm(owner, await owner.browser.open(pageOf(owner)), '/settings/workspace/members/remove')
  expect(await members(owner)).toEqual([[owner.email, 'owner']])
  const { entries } = (await owner.api.get('/audit')).body
  const told = entries
    .filter(({ action }: any) => action.startsWith('member.'))
    .map(({ action, actor, workspace_id }: any) => [action, actor.user_id, workspace_id])
  expect(told).toEqual([
    ['member.delete', owner.userId, owner.workspaceId],
    ['member.delete', ben.userId, owner.workspaceId],
    ['member.update', owner.userId, owner.workspaceId],
  ])
})

test('[SI29] the owner invites people and makes guest links, sees both and ends both; others see nothing', async () => {
  const [owner, ben] = [await signedIn(), await signedIn()]
  const board = await makeBoard(owner, { name: 'Lighthouse' })
  const { browser } = owner
  const page = await browser.open(pageOf(owner))
  const invite = page.form('/settings/workspace/invitations')
  for (const [fields, says] of [
    [{ email: 'nobody' }, 'E-mail must be an address'],
    [{ role: 'owner' }, 'e-mail of the new owner'],
  ] as const) {
    const refused = await browser.post(invite, fields)
    expect([refused.status, refused.text.includes(says)]).toEqual([422, true])
  }
  const invited = await browser.post(invite, { email: ben.email, role: 'editor' })
  const link = secretIn(invited).replace(service.homeUrl, '')
  const accepting = await ben.browser.open(link)
  expect((await ben.browser.post(accepting.form('/login/invitation'))).status).toBe(200)
  expect(await members(owner)).toContainEqual([ben.email, 'editor'])
  const other = await browser.post(invite, { role: 'viewer' })
  const revoked = await confirm(owner, other, '/settings/workspace/invitations/revoke')
  expect(revoked.text).not.toContain('whoever has the link')
  expect((await ben.browser.open(secretIn(other).replace(service.homeUrl, ''))).status).toBe(410)

  const form = page.form('/settings/workspace/links')
  const short = await browser.post(form, { board: board.id, password: 'short' })
  expect([short.status, short.text.includes('Password must have')]).toEqual([422, true])
  const made = await browser.post(form, {
    board: board.id,
    role: 'editor',
    password: 'open sesame',
    days: '7',
  })
  const token = secretIn(made)
  expect((await open(service, token, { password: 'open sesame' })).body).toMatchObject({ role: 'editor' })
  expect((await browser.open(pageOf(owner))).text).toContain('Lighthouse')
  await confirm(owner, made, '/settings/workspace/links/delete')
  expect((await open(service, token, { password: 'open sesame' })).status).toBe(404)

  // A member has neither the page nor its forms.
  expect((await ben.browser.open(pageOf(owner))).path).toBe('/settings')
  const own = await ben.browser.open(pageOf(ben))
  const sent = await ben.browser.post(own.form('/settings/workspace/invitations'), {
    workspace: owner.workspaceId,
  })
  expect(sent.status).toBe(403)
  const guests = { action: '/settings/workspace/links', fields: own.forms[0]!.fields }
  expect((await ben.browser.post(guests, { board: board.id, role: 'viewer' })).status).toBe(403)
})
