/** How a newcomer gets from the link that `npm start` prints to the token of a service account: by pages and API alone. */
import type { Browser } from 'playwright-core'
import { createClient } from '../../client/index.ts'
import { until } from '../support/editor.ts'
import type { Instance } from '../support/instance.ts'

export async function makeServiceAccount(
  chromium: Browser,
  { url, stderr }: Instance,
): Promise<{ workspaceId: string; token: string }> {
  await until(() => stderr().includes('/login/link'), 'the link is printed')
  const [link = ''] = /http:\S+\/login\/link\?code=\S+/.exec(stderr()) ?? []
  const context = await chromium.newContext()
  const page = await context.newPage()
  await page.goto(link)
  await page.getByRole('button', { name: 'Open the board' }).click()
  await page.waitForURL('**/app/boards/*')
  await page.goto(`${url}/settings`)
  await page.getByLabel('Name').fill('the first steps')
  await page.getByLabel('write: create and change').check()
  await page.getByRole('button', { name: 'Create token' }).click()
  const own = await page.locator('code.secret').textContent()
  await context.close()

  const client = createClient({ url, token: own! })
  const { workspaces } = await client.request('GET /workspaces')
  const { id: workspaceId } = workspaces[0]!
  const { access_token: token } = await client.request('POST /service-accounts', {
    body: { workspace_id: workspaceId, name: 'Product', scopes: ['read', 'write'], rate_limit: 100_000 },
  })
  return { workspaceId, token }
}
