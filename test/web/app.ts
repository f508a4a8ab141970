/** The app in real browsers: people who sign in by a link, each in a browser of their own. */
import { expect } from 'vitest'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { linkUrl } from '../../server/link-url.ts'
import { makeLink } from '../../sql/accounts/sign-in-links.ts'
import { chromiumOfFile, openPage } from '../support/chromium.ts'
import { forFile } from '../support/test-file.ts'
import type { TestService, TestUser } from '../support/service.ts'

export const chromium = await chromiumOfFile()

export interface Window {
  page: Page
  complaints: string[]
  /** Everything that the page has requested. */
  requests: string[]
}

export async function openWindow(url: string, options: BrowserContextOptions = {}): Promise<Window> {
  const context = await forFile(chromium.newContext({ viewport: { width: 1280, height: 800 }, ...options }))
  await context.addInitScript(noteFirstCard)
  const { page, complaints } = await openPage(context)
  const requests: string[] = []
  context.on('request', (request) => requests.push(request.url()))
  page.on('websocket', (socket) => requests.push(socket.url()))
  await page.goto(url)
  await page.getByRole('button', { name: 'Open the board' }).click()
  await page.waitForURL('**/app/boards/*')
  return { page, complaints, requests }
}

const noteFirstCard = `
  new MutationObserver(() => {
    if (document.querySelector('.react-flow__node-card')) globalThis.firstCardAt ??= performance.now()
  }).observe(document, { childList: true, subtree: true })`

/** The scripts that the page began to load before it showed a card. */
export const scriptsBeforeCards = (page: Page): Promise<string[]> =>
  page.evaluate(`
    performance.getEntriesByType('resource')
      .filter(({ name, startTime }) => name.endsWith('.js') && startTime < firstCardAt)
      .map(({ name }) => name)`)

/** Opens a board as an account without a password. */
export async function openAs(
  service: Pick<TestService, 'database' | 'homeUrl'>,
  user: Pick<TestUser, 'userId'>,
  boardId: string,
  options: BrowserContextOptions = {},
): Promise<Window> {
  const { code } = await service.database.asSystem((tx) => makeLink(tx, { userId: user.userId, hours: 1 }))
  const opened = await openWindow(linkUrl(service.homeUrl, code, `/app/boards/${boardId}`), options)
  await opened.page.locator('.react-flow').waitFor()
  // What is loaded after the first cards: without it nothing can be dropped yet.
  await opened.page.getByRole('button', { name: 'Fit View' }).waitFor()
  return opened
}

export const card = (page: Page, title: string): Locator =>
  page.locator('.react-flow__node-card').filter({ has: page.locator(`.card :text-is("${title}")`) })

/** Where a card is on the screen, in whole pixels. */
export async function placeOf(page: Page, title: string): Promise<{ x: number; y: number }> {
  const box = await card(page, title).boundingBox()
  return { x: Math.round(box!.x), y: Math.round(box!.y) }
}

export interface Typing {
  /** What has been typed until now. */
  typed: string
  /** Resolves when the last letter is typed. */
  stop(): Promise<void>
}

/**
 * Types letter after letter into a field, as a person does, until it is stopped.
 *
 * @param afterEach called after each letter
 */
export function keepTyping(field: Locator, afterEach?: () => Promise<void>): Typing {
  const ending = new AbortController()
  const typing: Typing = {
    typed: '',
    stop() {
      ending.abort()
      return ended
    },
  }
  const ended = (async () => {
    while (!ending.signal.aborted) {
      const letter = 'abcdefghijklmnopqrstuvwxyz'[typing.typed.length % 26]!
      await field.pressSequentially(letter, { delay: 100 })
      typing.typed += letter
      await afterEach?.()
    }
  })()
  return typing
}

export const state = (page: Page) => page.locator('.state')
export const saved = (page: Page) => eventually(() => state(page).textContent()).toBe('Saved')

/** Reads until the assertion holds. */
export const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 10_000 })
