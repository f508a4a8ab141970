/** The real Chromium. It checks what needs a browser: layout, contrast, accessible names and the console. */
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

const withoutFeatures = [
  // As Playwright sets them. A second switch of the same name replaces the first.
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'AvoidCorsURLLoaderRestartOnRedirect', 'PaintHolding'],
  ...['HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable', 'ThirdPartyStoragePartitioning'],
  ...['DestroyProfileOnBrowserClose', 'LensOverlay', 'MediaRouter', 'OptimizationHints'],
  ...['NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch'],
  // The popups of the address bar. They are two more pages for each window, with more work than a simple page.
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
]

const flags = [
  '--no-sandbox',
  '--no-first-run',
  `--disable-features=${withoutFeatures.join(',')}`,
  ...['gpu', 'background-networking', 'component-update', 'sync'].map((feature) => `--disable-${feature}`),
]

/** One browser for the test file. It is closed at the end of the file. */
export async function chromiumOfFile(): Promise<Chromium> {
  const launched = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags })
  return forFile(Promise.resolve(launched))
}

export interface Watched {
  page: Page
  /** Errors, warnings and exceptions in the console, in order. */
  complaints: string[]
}

/** Opens a new page, and records the messages of its console. */
export async function openPage(context: BrowserContext): Promise<Watched> {
  const page = await context.newPage()
  // Less than a test may take, so that a failure names its step.
  page.setDefaultTimeout(25_000)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    // Chromium also logs the status of the page itself.
    if (message.text().startsWith('Failed to load resource') && message.location().url === page.url()) return
    complaints.push(`${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  return { page, complaints }
}

/** Returns a context with the present cookies of `browser`. */
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

/**
 * Returns accessibility violations of serious and critical impact, one line each: `rule: element`.
 *
 * @param part selector of the part of the page that is checked
 */
export async function violationsOf(page: Page, part = 'html'): Promise<string[]> {
  // The debugger's protocol is not subject to the page's content security policy.
  await page.evaluate(`${await axeSource}; undefined`)
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(${JSON.stringify(part)}, { resultTypes: ['violations'], preload: false })`,
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(
        ({ target, html, any }) => `${id}: ${String(target)} ${html.slice(0, 120)} ${any[0]?.message ?? ''}`,
      ),
    )
}
