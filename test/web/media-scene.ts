/** A board that somebody has open in a real Chromium, for files and all kinds of cards. */
import { afterAll } from 'vitest'
import { openEgress } from '../../platform/egress/egress.ts'
import { makeBoard, makeCards } from '../api/board.ts'
import { startService } from '../support/service.ts'
import { card, eventually, openAs } from './app.ts'

export const service = await startService({
  workers: false,
  egress: openEgress({ allow: ['127.0.0.1'] }),
  config: { logLevel: 'error', documentBytes: { free: 10_000, pro: 100_000_000 } },
})
afterAll(() => service.stop())
export const user = await service.user({ name: 'Ada' })
export const board = await makeBoard(user, { name: 'Media' })
await makeCards(user, board.id, [{ title: 'Start' }])
export const ada = await openAs(service, user, board.id)
export const { page } = ada
await card(page, 'Start').waitFor()

export const cards = async (): Promise<any[]> =>
  (await user.api.get(`/boards/${board.id}/cards?limit=500`)).body.cards
export const ofKind = async (kind: string) => (await cards()).filter((one) => one.kind === kind)

export async function emptyBoard(): Promise<void> {
  const ids = (await cards()).map(({ id }) => id)
  if (ids.length > 0) await user.api.delete(`/boards/${board.id}/cards`, { card_ids: ids })
  await eventually(() => page.locator('.react-flow__node').count()).toBe(0)
}
