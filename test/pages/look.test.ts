/** What people see, in a real Chromium: every page at three widths, light and dark. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPasswords } from '../../platform/secrets/passwords.ts'
import { makeLink } from '../../sql/accounts/sign-in-links.ts'
import { makeBoard } from '../api/board.ts'
import { makeLink as makeGuestLink } from '../api/links.ts'
import { begin, connect, register } from '../api/oauth.ts'
import { person, quickCost, rightPassword, signIn } from '../api/sign-in.ts'
import { Browser } from '../support/browser.ts'
import { chromiumOfFile, contextOf, openPage, violationsOf } from '../support/chromium.ts'
import { forFile, serviceOfFile } from '../support/test-file.ts'

const { service } = await serviceOfFile({
  config: { logLevel: 'error' },
  passwords: openPasswords(quickCost),
})
const chromium = await chromiumOfFile()

/** Somebody with two of everything that the settings list, of which one is as long as it can be. */
const somebody = await person(service)
await signIn(somebody.browser, somebody)
await signIn(new Browser(service.url), somebody)
await service.token(somebody, { scopes: ['read'], ttlDays: 7 })
await service.admin`update tokens set last_used_at = now() where user_id = ${somebody.userId}`
await service.admin`
  update tokens set name = ${'x'.repeat(200)} where id = (select id from tokens where user_id = ${somebody.userId} limit 1)`
await connect(service, somebody)
const colleague = await service.user({ name: 'Ɯ'.repeat(100) })
await service.member(somebody.workspaceId, colleague, 'editor')
const board = await makeBoard(somebody, { name: 'x'.repeat(200) })
await makeGuestLink(somebody, board.id, { name: 'y'.repeat(200) })
const longName = await register(service, {
  client_name: 'Ɯ'.repeat(200),
  redirect_uris: [`https://${'long-name.'.repeat(20)}example/callback`],
})
const application = await register(service)

const signedIn = await forFile(contextOf(chromium, somebody.browser))
const stranger = await forFile(contextOf(chromium, new Browser(service.url)))

const link = async () => {
  const { userId } = await service.user()
  const { code } = await service.database.asSystem((tx) => makeLink(tx, { userId, hours: 1 }))
  return `/login/link?code=${code}`
}
const invitation = async () => {
  const { workspaceId, api } = somebody
  const invited = { email: `${'long-name.'.repeat(6)}@example.test`, role: 'editor' }
  const { body } = await api.post(`/workspaces/${workspaceId}/invitations`, invited)
  return body.url.replace(service.homeUrl, '') as string
}
const consent = async (app = application) =>
  (await begin(service, app, { scope: 'read write delete' })).url.href
/** Where the first control of a kind in the settings leads. */
const confirmation = (section: string, name: RegExp) => async (page: Page) => {
  await page.goto('/settings')
  await page.locator(`#${section}`).getByRole('link', { name }).first().click()
}

interface Look {
  as: 'somebody' | 'nobody'
  /** How the page is reached. */
  open: (page: Page) => Promise<unknown>
  /** What axe has not seen on another page. Default: all of it. */
  part?: string
}

const pages: Record<string, Look> = {
  'the start page': { as: 'nobody', open: (page) => page.goto('/') },
  'the login': { as: 'nobody', open: (page) => page.goto('/login') },
  'a refused login': {
    as: 'nobody',
    async open(page) {
      await page.goto('/login')
      await page.getByLabel('E-mail').fill(somebody.email)
      await page.getByLabel('Password').fill('wrong')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').waitFor()
    },
  },
  'a one-time link': { as: 'nobody', open: async (page) => page.goto(await link()) },
  'a dead link': { as: 'nobody', open: (page) => page.goto('/login/link?code=x') },
  'the settings': { as: 'somebody', open: (page) => page.goto('/settings') },
  'the settings after a password': {
    as: 'somebody',
    open: (page) => page.goto('/settings?changed=password#password'),
  },
  'a new token': {
    as: 'somebody',
    async open(page) {
      await page.goto('/settings')
      await page.getByLabel('Name').fill('backup')
      await page.getByRole('button', { name: 'Create token' }).click()
      await page.getByRole('status').waitFor()
    },
  },
  'a refused password': {
    as: 'somebody',
    async open(page) {
      await page.goto('/settings')
      await page.getByLabel('Current password').fill('wrong')
      await page.getByLabel('New password').fill(rightPassword)
      await page.getByRole('button', { name: 'Change password' }).click()
      await page.getByRole('alert').waitFor()
    },
  },
  'revoking a token': { as: 'somebody', open: confirmation('api', /^Revoke/) },
  'disconnecting an application': { as: 'somebody', open: confirmation('applications', /^Disconnect/) },
  'ending a session': { as: 'somebody', open: confirmation('sessions', /^End/) },
  'logging out everywhere': { as: 'somebody', open: confirmation('sessions', /^Log out everywhere/) },
  'an invitation': { as: 'nobody', open: async (page) => page.goto(await invitation()) },
  'a workspace after an invitation': {
    as: 'somebody',
    async open(page) {
      await page.goto(`/settings/workspace?id=${somebody.workspaceId}`)
      await page.getByRole('button', { name: 'Invite' }).click()
      await page.getByRole('status').waitFor()
    },
  },
  'a consent': { as: 'somebody', open: async (page) => page.goto(await consent()) },
  'a consent with long names': { as: 'somebody', open: async (page) => page.goto(await consent(longName)) },
  'a consent that is over': { as: 'somebody', open: (page) => page.goto('/oauth/interaction/over') },
  'an error of OAuth': {
    as: 'nobody',
    open: (page) => page.goto('/oauth/authorize?client_id=nobody&response_type=code'),
  },
  'the API reference': {
    as: 'nobody',
    async open(page) {
      await page.goto('/docs')
      await page.getByText('/boards/{id}/cards', { exact: true }).first().waitFor()
    },
  },
  'an open operation of the API reference': {
    as: 'nobody',
    part: '.opblock.is-open',
    async open(page) {
      await page.goto('/docs')
      await page.locator('.opblock-post .opblock-summary-control').first().click()
      await page.getByRole('button', { name: 'Execute' }).waitFor()
    },
  },
  'the changelog': { as: 'nobody', open: (page) => page.goto('/changelog') },
  'a page that does not exist': { as: 'nobody', open: (page) => page.goto('/setings') },
}

const layoutFaults = await readFile(new URL('faults.js', import.meta.url), 'utf8')
const widths = [390, 768, 1280]
const schemes = ['light', 'dark'] as const

test.each(Object.entries(pages))(
  '[PG1, PG2, PG3] %s',
  { timeout: 120_000 },
  async (name, { as, open, part }) => {
    const { page, complaints } = await openPage(as === 'somebody' ? signedIn : stranger)
    await open(page)
    const found: string[] = []
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme })
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 })
        const faults = [...(await violationsOf(page, part)), ...(await page.evaluate<string[]>(layoutFaults))]
        found.push(...faults.map((fault) => `${colorScheme} ${width}: ${fault}`))
        const folder = process.env['SCREENSHOTS']
        if (folder)
          await page.screenshot({
            path: `${folder}/${name.replaceAll(' ', '-')}-${colorScheme}-${width}.png`,
            fullPage: !name.includes('API'),
          })
      }
    }
    await page.close()
    expect({ found, complaints }).toEqual({ found: [], complaints: [] })
  },
)
