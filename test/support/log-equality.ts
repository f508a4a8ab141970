/** Checks that the documents in memory equal the log. */
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import * as Y from 'yjs'
import { toJson } from '../../collab/canvas/json.ts'
import { replay, tail } from '../../collab/log/log.ts'
import { until } from './editor.ts'
import type { TestService } from './service.ts'

/**
 * Waits until all queued writes are committed, and every node that has the board holds them. Then compares its document
 * with one built from the log.
 */
export async function expectMemoryEqualsLog(service: TestService, boardId: string): Promise<void> {
  const boards = service.inMemory(boardId)
  if (boards.length === 0) throw new Error('the board is not in memory')
  await until(() => boards.every(({ queue }) => queue.edits.count === 0), 'all edits are committed')
  const log = await tail(service.database, boardId, 0)
  const rebuilt = new Y.Doc()
  const failures: unknown[] = []
  replay(rebuilt, log!, { failed: (error) => failures.push(error) })
  expect(failures).toEqual([])
  for (const board of boards) {
    await board.built()
    if (board.editors === 0) board.noticed(log!.seq) // it follows the log again when it hears of an edit
    await until(() => board.appliedSeq >= log!.seq, 'the node holds all of the log')
    // What a large deletion deletes is cleared in turns.
    await until(
      () => isDeepStrictEqual(deletedIn(board.document), deletedIn(rebuilt)),
      'it is cleared',
    ).catch(() => undefined)
    expect(describe(board.document)).toEqual(describe(rebuilt))
  }
}

const deletedIn = (document: Y.Doc) => Y.createDeleteSetFromStructStore(document.store).clients

function describe(document: Y.Doc) {
  return {
    stateVector: Object.fromEntries(Y.snapshot(document).sv),
    deleted: deletedIn(document),
    cards: toJson(document.getMap('cards'), { left: 1e8 }),
    groups: toJson(document.getMap('groups'), { left: 1e8 }),
  }
}
