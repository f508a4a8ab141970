/** The app in real browsers: people who sign in by a link, each in a browser of their own. */
import { expect } from 'vitest'
import type { Locator, Page } from 'playwright-core'
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

export async function openWindow(url: string): Promise<Window> {
  const context = await forFile(chromium.newContext({ viewport: { width: 1280, height: 800 } }))
  const { page, complaints } = await openPage(context)
  const requests: string[] = []
  context.on('request', (request) => requests.push(request.url()))
  page.on('websocket', (socket) => requests.push(socket.url()))
  await page.goto(url)
  await page.getByRole('button', { name: 'Open the board' }).click()
  await page.waitForURL('**/app/boards/*')
  return { page, complaints, requests }
}

/** Opens a board as an account without a password. */
export async function openAs(
  service: TestService,
  user: Pick<TestUser, 'userId'>,
  boardId: string,
): Promise<Window> {
  const { code } = await service.database.asSystem((tx) => makeLink(tx, { userId: user.userId, hours: 1 }))
  const opened = await openWindow(linkUrl(service.homeUrl, code, `/app/boards/${boardId}`))
  await opened.page.locator('.react-flow').waitFor()
  return opened
}

export const card = (page: Page, title: string): Locator =>
  page.locator('.react-flow__node-card').filter({ has: page.locator(`.card :text-is("${title}")`) })

/** Where a card is on the screen, in whole pixels. */
export async function placeOf(page: Page, title: string): Promise<{ x: number; y: number }> {
  const box = await card(page, title).boundingBox()
  return { x: Math.round(box!.x), y: Math.round(box!.y) }
}

export const state = (page: Page) => page.locator('.state')
export const saved = (page: Page) => eventually(() => state(page).textContent()).toBe('Saved')

/** Reads until the assertion holds. */
export const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 10_000 })
