/** Two nodes with metrics, and ways to make metrics grow: `here` serves them behind a token, `there` on a port of its own. */
import { afterAll, expect } from 'vitest'
import * as Y from 'yjs'
import { closeCodes } from '../../core/errors.ts'
import { makeBoard, succeeded } from '../api/board.ts'
import { leaveAll, openEditor, type Editor } from '../support/editor.ts'
import { costlyUpdates } from '../support/crafted-updates.ts'
import { cloneDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { lockBoard } from '../support/held-lock.ts'
import { scrape } from '../support/metrics.ts'
import { disconnectAll, enter } from '../support/raw-client.ts'
import { openReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { swallowingProxy } from '../support/swallowing-proxy.ts'
import { makeWebhook } from '../support/webhook.ts'

export const metricsToken = 'a token for scrapes'.replaceAll(' ', '-')
export const metricsPort = await freePort()
export const testDatabase = await cloneDatabase()
export const proxy = await swallowingProxy(Number(new URL(testDatabase.url).port))
const config = { egressAllow: ['127.0.0.1/32'], appEventPollSeconds: 60 }
export const here = await startService({ testDatabase, queueTickMs: 50, config: { ...config, metricsToken } })
export const user = await here.user()
export const board = await makeBoard(user)
const path = `/boards/${board.id}/cards`
/** Started by the first test that needs it. */
export let there: TestService | null = null

afterAll(async () => {
  leaveAll()
  disconnectAll()
  proxy.relay()
  await there?.stop()
  await here.stop()
  await proxy.stop()
  await testDatabase.drop()
})

export const scrapeHere = () => scrape(here.homeUrl, metricsToken)
export const scrapeThere = () => scrape(`http://127.0.0.1:${metricsPort}`)
export const open = (service = here) => openEditor(service.homeUrl, { boardId: board.id, token: user.token })
export const write = (fields: object = {}) => user.api.post(path, { kind: 'note', x: 0, y: 0, ...fields })
export const leave = (editor: Editor) => () => editor.leave()

export async function startThere(): Promise<TestService> {
  // Its way to the database can be silenced, and there is no Redis at this address.
  const behindProxy = { ...testDatabase, url: proxy.through(testDatabase.url) }
  const own = { metricsPort, redisUrl: 'redis://127.0.0.1:1' }
  there = await startService({ testDatabase: behindProxy, workers: false, config: own })
  return there
}

export async function hookTo(answer: 200 | 500 | null): Promise<() => Promise<void>> {
  const receiver = await openReceiver(() => answer)
  const id = await makeWebhook(here, user, receiver.url)
  await write()
  return async () => {
    await here.admin`delete from webhooks where id = ${id}`
    for (const response of receiver.hanging) response.writeHead(200).end()
    await receiver.close()
  }
}

/** Takes threads of the worker pool for one account: one runs, others wait, and the last ones are refused. */
export function fillThreads(pieces: number): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  for (let n = 0; n < pieces; n++)
    void here.live.pool.queue.run(user.userId, () => promise).catch(() => undefined)
  return resolve
}

/** Editors' edits and API writes wait for a commit while their board is locked. */
export async function waitForLock(): Promise<() => Promise<void>> {
  const editor = await open()
  const release = await lockBoard(here.admin, board.id)
  editor.addCard(crypto.randomUUID())
  const written = write()
  return async () => {
    await release()
    succeeded(await written)
    await editor.saved()
    editor.leave()
  }
}

/** An update that takes an account more time than it has left. It is applied in turns, with rests between them. */
export async function costlyUpdate(): Promise<() => Promise<void>> {
  const other = await here.user()
  const { id: boardId } = await makeBoard(other)
  const editor = await openEditor(here.homeUrl, { boardId, token: other.token })
  for (const update of costlyUpdates(1800)) Y.applyUpdate(editor.document, update)
  return async () => {
    await editor.saved(30_000)
    editor.leave()
  }
}

/** A canvas whose client does not answer the close frame. */
export async function hangUp(): Promise<() => void> {
  const client = await enter(here.homeUrl, { boardId: board.id, token: user.token })
  client.socket.pause()
  here.gateway.closeBoard(board.id, closeCodes.tryLater)
  const { body } = await write()
  expect(body.live).toBe(false)
  return () => client.socket.terminate()
}
