/** The real Chromium, for what only a browser can tell of a page: layout, contrast, accessible names, its console. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import {
  chromium,
  type Browser as Chromium,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from 'playwright-core'
import type { Browser } from './browser.ts'
import { forFile } from './test-file.ts'

const flags = [
  '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync',
  '--no-first-run',
] // prettier-ignore

/** One for the test file; it ends with the file. */
export async function chromiumOfFile(): Promise<Chromium> {
  const launched = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags })
  return forFile(Promise.resolve(launched))
}

export interface Watched {
  page: Page
  /** Errors, warnings and exceptions in the console, in order. */
  complaints: string[]
}

/** A new page, and what the console says about it from now on. */
export async function openPage(context: BrowserContext): Promise<Watched> {
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    // Chromium repeats the status of the page itself there.
    if (message.text().startsWith('Failed to load resource') && message.location().url === page.url()) return
    complaints.push(`${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  return { page, complaints }
}

/** A context with the cookies that `browser` has now. */
export async function contextOf(
  chromium: Chromium,
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await chromium.newContext({ baseURL: browser.url, ...options })
  const cookies = await browser.jar.getCookies(browser.url)
  await context.addCookies(cookies.map(({ key, value }) => ({ name: key, value, url: browser.url })))
  return context
}

const axeSource = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Violations of the impacts serious and critical: `rule: element`, one line each. */
export async function violationsOf(page: Page): Promise<string[]> {
  // By the debugger's protocol, which the page's policy does not bind.
  await page.evaluate(`${await axeSource}; undefined`)
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document, { resultTypes: ['violations'], preload: false })`,
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(
        ({ target, html, any }) => `${id}: ${String(target)} ${html.slice(0, 120)} ${any[0]?.message ?? ''}`,
      ),
    )
}
