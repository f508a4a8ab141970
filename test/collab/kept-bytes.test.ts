/** Node cuts small buffers out of one of 64 KB. One that is kept would keep all of it in memory. */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { AwarenessRoom, type Speaker } from '../../collab/awareness/room.ts'
import { Stamp } from '../../collab/awareness/stamp.ts'
import { SharedState } from '../../collab/documents/shared-state.ts'
import { syncStatusFrame } from '../../collab/gateway/protocol.ts'
import { encodeDeletes } from '../../collab/updates/encode-state.ts'
import { ownBytes } from '../../collab/updates/own-bytes.ts'
import { inTurns } from '../../platform/work/loop-turn.ts'

const mostBytes = 2 * 1024
const heldBytes = ({ buffer }: Uint8Array) => buffer.byteLength

/** A part of a large buffer, as one that was read from a socket. */
function partOf(text: string): Buffer {
  const read = Buffer.alloc(64 * 1024)
  return read.subarray(100, 100 + read.write(text, 100))
}

test('[X138] a state that is kept holds its own bytes alone, of this node and of another', () => {
  const room = new AwarenessRoom<Speaker>('board', 1_000_000)
  const sender = {
    id: 'ada',
    name: 'Ada',
    isGuest: false,
    sessionUser: null,
    isAgent: false,
    readOnly: false,
  }
  const seat = { account: 'ada', isApiClient: false, clients: new Set<number>(), stamp: new Stamp(sender) }
  const state = { value: 1 }
  const json = partOf(JSON.stringify(state))
  room.keep(1, { clock: 1, json, state }, seat)
  room.take(2, { clock: 1, json, state }, 'another node')
  const kept = [...room.states.values()].map((one) => one.json)
  expect(kept).toHaveLength(2)
  for (const one of kept) expect(heldBytes(one)).toBeLessThan(mostBytes)
})

test('[X138] so do acknowledgements, what joins share, and parts of updates', async () => {
  const document = new Y.Doc()
  const cards = document.getMap('cards')
  for (const key of ['a', 'b', 'c']) cards.set(key, 'a card')
  cards.delete('b')
  const { base } = await new SharedState(document).missing(new Map())
  const deletes = await inTurns(encodeDeletes(document))
  const kept = { base, deletes, status: syncStatusFrame('board', true), part: ownBytes(partOf('an update')) }
  for (const [what, bytes] of Object.entries(kept)) expect(heldBytes(bytes), what).toBeLessThan(mostBytes)
})
