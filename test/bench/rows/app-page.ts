/** The app in a real Chromium, for the measures of it. */
import { chromium, type Browser, type Page } from 'playwright-core'
import type { Sql } from 'postgres'
import { linkUrl } from '../../../server/link-url.ts'
import { makeLink } from '../../../sql/accounts/sign-in-links.ts'
import type { Transaction } from '../../../sql/database.ts'
import type { Corkboard } from '../bench.ts'
import { send } from '../timed-request.ts'

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })

/** Signs in, and loads a board with nothing in the cache. The times end with the first card; `taskMs` is CPU of the page. */
export async function openApp(
  browser: Browser,
  sql: Sql,
  { api }: Corkboard,
  board: string,
): Promise<{ page: Page; firstMs: number; taskMs: number }> {
  const [user] = await sql<
    { id: string }[]
  >`select id from users where email like 'bench-%' order by created_at limit 1`
  const { code } = await makeLink(sql as unknown as Transaction, { userId: user!.id, hours: 1 })
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  const url = new URL(api.root).origin
  await page.goto(linkUrl(url, code, '/app/'))
  await Promise.all([
    page.waitForURL('**/app/**'),
    page.getByRole('button', { name: 'Open the board' }).click(),
  ])
  const session = await context.newCDPSession(page)
  await session.send('Network.clearBrowserCache')
  await page.goto('about:blank')
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const beganMs = performance.now()
  await page.goto(`${url}/app/boards/${board}`, { waitUntil: 'commit' })
  await page.locator('.react-flow__node-card').first().waitFor()
  const firstMs = performance.now() - beganMs
  const { metrics } = await session.send('Performance.getMetrics')
  const { value } = metrics.find(({ name }) => name === 'TaskDuration')!
  return { page, firstMs, taskMs: 1000 * value }
}

interface Grid {
  columns: number
  w: number
  h: number
  gap: number
}

export async function fillGrid(
  corkboard: Corkboard,
  board: string,
  count: number,
  { columns, w, h, gap }: Grid,
): Promise<void> {
  const cards = Array.from({ length: count }, (_, n) => ({
    ...{ kind: 'note', title: `Card ${n}`, w, h },
    x: (n % columns) * (w + gap),
    y: Math.floor(n / columns) * (h + gap),
  }))
  for (let sent = 0; sent < count; sent += 1000)
    await send(corkboard, 'POST', `/boards/${board}/cards`, { cards: cards.slice(sent, sent + 1000) })
}
