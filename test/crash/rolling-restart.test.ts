/** Restarts three nodes one after the other, behind HAProxy and under load, while somebody types in the app. */
import { expect, onTestFinished, test } from 'vitest'
import { addUser } from '../../sql/accounts/accounts.ts'
import { mintToken } from '../../sql/accounts/tokens.ts'
import { ApiClient } from '../support/http.ts'
import { card, eventually, keepTyping, openAs, saved, state } from '../web/app.ts'
import type { Cluster } from './cluster.ts'
import { NodeRun } from './node-round.ts'

/** Slow enough that the machine is not the bottleneck, with editors that reconnect as stock providers do. */
const pace = { pauseMs: 100, requestPauseMs: 100, stockDelays: true }

test(
  '[NR2, WB15] a rolling restart behind HAProxy under load fails no request, loses no edit and no typed letter, and keeps nobody away for longer than three seconds',
  { timeout: 200_000 },
  async () => {
    const run = await NodeRun.start({
      ...{ seed: Date.now() % 1_000_000, nodes: 3, maxPauseMs: 5000 },
      ...{ only: ['rolling restart'], pace, pastBalancer: false },
    })
    onTestFinished(() => run.end(), 60_000)
    const person = await typing(run.cluster)
    const { faults } = await run.round()
    const longestOfflineMs = await person.leave()
    expect([...faults, ...(await run.checkAll())], run.output).toEqual([])
    const { acknowledged, written, unanswered, longestAwayMs, slowestMs } = run.figures
    expect(Math.min(acknowledged, written)).toBeGreaterThan(50)
    expect(unanswered).toBe(0)
    expect(longestAwayMs).toBeGreaterThan(0)
    // A machine that is busy otherwise delays an editor as it delays the slowest request.
    expect(longestAwayMs - slowestMs).toBeLessThan(3000)
    expect(longestOfflineMs - slowestMs).toBeLessThan(3000)
  },
)

/** Somebody who types into a card in the app, until `leave`, which returns the longest time that the app was offline. */
async function typing(cluster: Cluster): Promise<{ leave(): Promise<number> }> {
  const { userId, token } = await cluster.withDatabase((database) =>
    database.asSystem(async (tx) => {
      const { userId } = await addUser(tx, { email: 'ada@example.com', name: 'Ada', tier: 'free' })
      return { userId, ...(await mintToken(tx, { userId, name: 'test', scopes: ['read', 'write'] })) }
    }),
  )
  const api = new ApiClient(cluster.url, token)
  const { board } = (await api.post('/boards', { name: 'Letters' })).body
  await api.post(`/boards/${board.id}/cards`, { kind: 'note', title: 'Letter', body: '', x: 0, y: 0 })
  const { page, complaints } = await cluster.withDatabase((database) =>
    openAs({ database, homeUrl: cluster.url }, { userId }, board.id),
  )
  await card(page, 'Letter').dblclick()
  const field = page.getByRole('textbox', { name: 'Text of Letter' })
  await field.waitFor()
  let [offlineAt, longestOfflineMs] = [0, 0]
  const typing = keepTyping(field, async () => {
    const isOffline = (await state(page).textContent())!.startsWith('Offline')
    offlineAt = isOffline ? offlineAt || performance.now() : 0
    if (isOffline) longestOfflineMs = Math.max(longestOfflineMs, performance.now() - offlineAt)
  })
  return {
    async leave() {
      await typing.stop()
      const { typed } = typing
      await saved(page)
      await eventually(async () => (await api.get(`/boards/${board.id}/cards`)).body.cards[0].body).toBe(
        typed,
      )
      expect(typed.length).toBeGreaterThan(30)
      // Chromium notes each socket that a node closed.
      expect(complaints.filter((one) => !one.includes('WebSocket connection'))).toEqual([])
      return longestOfflineMs
    },
  }
}
