/** Boards that the app keeps on the device, while the service is away. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Page } from 'playwright-core'
import { makeBoard, makeCards } from '../api/board.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/editor.ts'
import { freePort } from '../support/free-port.ts'
import { testDataDir } from '../support/instance.ts'
import { startService } from '../support/service.ts'
import { card, eventually, openAs, saved, state } from './app.ts'
import { picture, png, tray } from './bring.ts'

const stored = (page: Page): Promise<string[]> =>
  page.evaluate('indexedDB.databases().then((all) => all.map(({ name }) => name))')

/** How many changes a store has. */
const updatesIn = (page: Page, name: string): Promise<number> =>
  page.evaluate(`new Promise((resolve) => {
    const opening = indexedDB.open('${name}')
    opening.onsuccess = () => {
      const counting = opening.result.transaction('updates').objectStore('updates').count()
      counting.onsuccess = () => (opening.result.close(), resolve(counting.result))
    }
  })`)

test('[WC1] what is typed while the service is away survives the window, and is sent later; a store ends with the access and the session', async () => {
  const testDatabase = await cloneDatabase()
  onTestFinished(() => testDatabase.drop())
  const [port, dataDir] = await Promise.all([freePort(), testDataDir()])
  const config = { logLevel: 'error', port, dataDir } as const
  const first = await startService({ workers: false, testDatabase, config })
  const user = await first.user({ name: 'Ada Byron' })
  const [board, shared] = [await makeBoard(user), await makeBoard(await first.user())]
  await user.api.post(`/boards/${board.id}/cards`, { kind: 'note', title: 'Plan', body: 'We ' })
  await first.share(shared.id, user, 'editor')
  const { page, complaints } = await openAs(first, user, board.id)
  const name = (id: string) => `corkboard:${id}:${user.userId}`
  await eventually(() => stored(page)).toEqual([name(board.id)])
  await card(page, 'Plan').dblclick()
  await page.waitForLoadState('networkidle') // a request under way could be reset
  await first.stop()
  await eventually(() => state(page).textContent()).toContain('Offline')
  await page.keyboard.type('sail at noon')
  await eventually(() => state(page).textContent()).toBe('Offline, kept on this device')
  await eventually(() => updatesIn(page, name(board.id))).toBeGreaterThan('sail at noon'.length)
  const context = page.context()
  await page.close()

  const second = await startService({ workers: false, testDatabase, config })
  onTestFinished(() => second.stop())
  const again = await context.newPage()
  await again.goto(`${second.homeUrl}/app/boards/${board.id}`)
  await again.getByText('We sail at noon').waitFor()
  await saved(again)
  const api = async () => (await user.api.get(`/boards/${board.id}/cards`)).body.cards[0].body
  await until(async () => (await api()) === 'We sail at noon', 'the service has it')

  await again.goto(`${second.homeUrl}/app/boards/${shared.id}`)
  await eventually(() => stored(again)).toContain(name(shared.id))
  await saved(again) // Who loses a board that is not open yet is told that they may not see it.
  await second.share(shared.id, user, 'none')
  await again.getByRole('alert').filter({ hasText: 'Your access to this board has ended' }).waitFor()
  await eventually(() => stored(again)).toEqual([name(board.id)])
  await again.goto(`${second.homeUrl}/settings`)
  await again.getByRole('button', { name: 'Log out', exact: true }).click()
  await again.waitForURL('**/login')
  await eventually(() => stored(again)).toEqual([])
  // Chromium tells of each attempt to reach the service while it is away.
  expect(complaints.filter((text) => !text.includes('ERR_CONNECTION_REFUSED'))).toEqual([])
})

test('[WC20] however long the service was away, the app is connected within eight seconds; when the network is back, at once', async () => {
  const testDatabase = await cloneDatabase()
  onTestFinished(() => testDatabase.drop())
  const [port, dataDir] = await Promise.all([freePort(), testDataDir()])
  const start = () =>
    startService({ workers: false, testDatabase, config: { logLevel: 'error', port, dataDir } })
  let service = await start()
  onTestFinished(() => service.stop())
  const user = await service.user()
  const { page } = await openAs(service, user, (await makeBoard(user)).id)
  await saved(page)
  // The provider waits for random times. These are the longest.
  await page.evaluate('Math.random = () => 0.999')
  /** @returns how long the app stays away, in ms, once the service is back */
  const awayAfter = async (ms: number, meanwhile: (gone: boolean) => Promise<void>) => {
    await Promise.all([meanwhile(true), service.stop()])
    await eventually(() => state(page).textContent()).toContain('Offline')
    await delay(ms)
    service = await start()
    await meanwhile(false)
    const backAt = performance.now()
    await until(async () => !(await state(page).textContent())?.includes('Offline'), 'connected', 20_000)
    return performance.now() - backAt
  }
  expect(await awayAfter(17_000, async () => {})).toBeLessThan(8500)
  expect(await awayAfter(9000, (gone) => page.context().setOffline(gone))).toBeLessThan(2500)
}, 90_000)

test('[WC31] without the network a file is kept and sent later, and a part of the app that is opened comes when the network is back', async () => {
  const service = await startService({ workers: false, config: { logLevel: 'error' } })
  onTestFinished(() => service.stop())
  const user = await service.user()
  const board = await makeBoard(user)
  await makeCards(user, board.id, [{ title: 'Plan' }])
  const { page } = await openAs(service, user, board.id)
  await saved(page)
  await page.mouse.move(600, 400) // The tools are loaded, and what is needed without the network.
  await page.getByRole('img', { name: 'Overview of the board' }).waitFor()
  await page.waitForLoadState('networkidle')

  await page.context().setOffline(true)
  await page.locator('input[type=file]').setInputFiles([png('first.png', await picture(60, 40))])
  await tray(page).getByRole('progressbar', { name: 'Upload of first.png' }).waitFor()
  await tray(page).getByText('The upload goes on when it is back.').waitFor()
  await page.getByRole('button', { name: 'History' }).click()
  await page.getByRole('status').filter({ hasText: 'opens when the network is back' }).waitFor()

  await page.context().setOffline(false)
  await page.getByRole('complementary', { name: 'History' }).waitFor()
  const files = async () =>
    (await user.api.get(`/boards/${board.id}/cards`)).body.cards.flatMap(
      ({ file_name: name }: any) => name ?? [],
    )
  await until(async () => (await files()).join() === 'first.png', 'the picture is on the board', 20_000)
  await eventually(() => tray(page).count()).toBe(0)
})
