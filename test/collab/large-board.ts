/** A board whose log has more than a megabyte, and what its canvases show. */
import { expect } from 'vitest'
import * as Y from 'yjs'
import { toJson } from '../../collab/canvas/json.ts'
import { tail } from '../../collab/log/log.ts'
import { makeBoard, makeCards, type Shown } from '../api/board.ts'
import { until, type Editor } from '../support/editor.ts'
import type { TestService, TestUser } from '../support/service.ts'

const bodies = Array.from({ length: 1100 }, (_, n) => ({ title: `Card ${n}`, body: `${n} `.repeat(300) }))

/** Makes the board. No node has it in memory. */
export async function makeLarge(
  service: TestService,
  user: TestUser,
): Promise<{ id: string; cards: Shown[] }> {
  const { id } = await makeBoard(user)
  const cards = [
    ...(await makeCards(user, id, bodies.slice(0, 1000))),
    ...(await makeCards(user, id, bodies.slice(1000))),
  ]
  expect(service.inMemory(id)).toEqual([])
  return { id, cards }
}

/** Whether each node that has the board in memory has its document. */
export const isBuilt = (service: TestService, boardId: string): boolean[] =>
  service.inMemory(boardId).map((board) => board.isBuilt)

/** The cards that the log holds. */
export async function contentOf(service: TestService, boardId: string): Promise<Record<string, unknown>> {
  const log = await tail(service.database, boardId, 0)
  const document = new Y.Doc()
  if (log!.snapshot) Y.applyUpdateV2(document, log!.snapshot)
  for (const update of log!.updates) Y.applyUpdate(document, update)
  return json(document)
}

/** Waits until the editors show what the log holds now. */
export async function expectShown(service: TestService, editors: Editor[], boardId: string): Promise<void> {
  const content = await contentOf(service, boardId)
  for (const { document } of editors)
    await until(() => document.getMap('cards').size === Object.keys(content).length, 'all cards are there')
  for (const { document } of editors) {
    await until(
      () => JSON.stringify(sorted(json(document))) === JSON.stringify(sorted(content)),
      'the canvas shows the log',
    )
    expect(document.store.pendingStructs).toBeNull()
  }
}

const json = (document: Y.Doc) => toJson(document.getMap('cards'), { left: 1e8 }) as Record<string, unknown>

const sorted = (cards: Record<string, unknown>) =>
  Object.keys(cards)
    .toSorted()
    .map((id) => [id, Object.entries(cards[id] as object).toSorted(([a], [b]) => (a < b ? -1 : 1))])
