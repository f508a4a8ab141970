/** Awareness states of one board on several nodes, with messages that are lost, late, doubled and out of order. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readAwareness } from '../../collab/awareness/encoding.ts'
import { Relay } from '../../collab/awareness/relay.ts'
import { AwarenessRoom, type Speaker } from '../../collab/awareness/room.ts'
import { Stamp } from '../../collab/awareness/stamp.ts'
import { readState } from '../../collab/awareness/state.ts'

const account = 'ada'
const speaker = (): Speaker => ({
  account,
  isApiClient: false,
  clients: new Set(),
  stamp: new Stamp({
    id: account,
    name: 'Ada',
    isGuest: false,
    sessionUser: null,
    isAgent: false,
    readOnly: false,
  }),
})

interface Message {
  from: string
  bytes: Uint8Array
}

/** A node with its editors. */
class Node {
  readonly id: string
  readonly room = new AwarenessRoom<Speaker>('board', 1_000_000)
  readonly seats = new Map<number, Speaker>()

  constructor(id: string) {
    this.id = id
  }

  /** A client of this node says something. @returns the clock that it has then, as a client of y-protocols */
  says(client: number, clock: number, value: number): number {
    const seat = this.seats.get(client) ?? speaker()
    this.seats.set(client, seat)
    const json = Buffer.from(JSON.stringify({ value }))
    return this.room.keep(client, { clock, json, state: { value } }, seat) ?? clock
  }

  leaves(client: number): void {
    if (this.seats.get(client)?.clients.has(client)) this.room.remove(client)
    this.seats.delete(client)
  }

  message(): Message | null {
    const own = [...this.room.changed].filter(([, { from }]) => typeof from !== 'string')
    const bytes = this.room.encode(own)
    this.room.changed.clear()
    return own.length > 0 ? { from: this.id, bytes } : null
  }

  hears({ from, bytes }: Message): void {
    if (from === this.id) return
    for (const [client, entry] of readAwareness(bytes)) {
      const state = readState(entry.json, bytes.byteLength)
      if (state === 'gone') this.room.takeAway(client, entry.clock, from)
      else if (state !== 'unfit') this.room.take(client, { ...entry, state }, from)
    }
  }

  get shown(): Record<string, unknown> {
    return Object.fromEntries(
      [...this.room.states].map(([client, { json }]) => [
        client,
        JSON.parse(Buffer.from(json).toString()).value,
      ]),
    )
  }
}

const step = fc.record({
  client: fc.integer({ min: 1, max: 3 }),
  node: fc.integer({ min: 0, max: 2 }),
  does: fc.constantFrom('says', 'says', 'says', 'leaves'),
  /** Where each node takes the message among those that are under way; null: it never does. */
  arrives: fc.array(fc.option(fc.nat(5)), { minLength: 3, maxLength: 3 }),
})

test('[AW14, AW15] whatever happens to messages, the next states of the clients make all nodes agree', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const nodes = [new Node('a'), new Node('b'), new Node('c')]
      const underWay = nodes.map((): { message: Message; left: number }[] => [])
      const at = new Map<number, Node>()
      const clocks = new Map<number, number>()
      let value = 0
      const send = (node: Node, arrives: (number | null)[]) => {
        const message = node.message()
        if (!message) return
        nodes.forEach((other, n) => {
          const left = arrives[n] ?? null
          if (other !== node && left !== null) underWay[n]!.push({ message, left })
        })
      }
      const deliver = () =>
        nodes.forEach((node, n) => {
          for (const one of underWay[n]!.filter(({ left }) => left === 0)) node.hears(one.message)
          underWay[n] = underWay[n]!.filter(({ left }) => left > 0).map(({ message, left }) => ({
            message,
            left: left - 1,
          }))
        })
      for (const { client, node, does, arrives } of steps) {
        const now = nodes[node]!
        const before = at.get(client)
        if (before && (before !== now || does === 'leaves')) {
          before.leaves(client)
          at.delete(client)
          send(before, arrives)
        }
        if (does === 'says') {
          at.set(client, now)
          clocks.set(client, now.says(client, (clocks.get(client) ?? 0) + 1, ++value))
          send(now, arrives)
        }
        deliver()
      }
      for (let n = 0; n < 6; n++) deliver()
      // Every client that is here renews its state until all have heard of it; the others are swept.
      for (let round = 0; round < 50; round++) {
        for (const [client, node] of at)
          clocks.set(client, node.says(client, clocks.get(client)! + 1, client))
        for (const node of nodes) send(node, [0, 0, 0])
        deliver()
      }
      for (const node of nodes)
        for (const [client, { from }] of node.room.states)
          if (typeof from === 'string' && !at.has(client)) node.room.remove(client)
      const wanted = Object.fromEntries([...at.keys()].map((client) => [client, client]))
      for (const node of nodes) expect(node.shown).toEqual(wanted)
    }),
    { numRuns: 100 },
  )
})

test.each(['an answer', 'the next change', 'the next sweep'])(
  '[AW17] what was said before the node knew of the other one is sent with %s, also when a heartbeat told it meanwhile',
  (knows) => {
    const [a, b] = [new Node('a'), new Node('b')]
    const sent: Uint8Array[] = []
    let isElsewhere = false
    const relay = new Relay<Speaker>({
      publish: (_board, bytes) => sent.push(bytes),
      tickMs: () => 1,
      isAlone: () => false,
      isElsewhere: () => isElsewhere,
    })
    const says = (client: number) => {
      a.says(client, 1, client)
      relay.changed(a.room, a.room.changed)
      a.room.changed.clear()
    }
    says(1)
    expect(sent).toEqual([])
    isElsewhere = true
    if (knows === 'an answer') relay.heard(a.room)
    else if (knows === 'the next change') says(2)
    else for (let sweep = 0; sweep < 2; sweep++) relay.sendUnsent(a.room)
    expect(sent.length).toBe(1)
    for (const bytes of sent) b.hears({ from: 'a', bytes: bytes.subarray(1) })
    expect(b.shown[1]).toBe(1)
    relay.stop()
  },
)

test('[AW14] messages that come in order, whole, need no renewal', () => {
  const [a, b] = [new Node('a'), new Node('b')]
  const exchange = () => {
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const message = one!.message()
      if (message) {
        other!.hears(message)
        other!.hears(message)
      }
    }
  }
  a.says(1, 1, 10)
  exchange()
  expect(b.shown).toEqual({ 1: 10 })
  b.says(1, 1, 11) // it has moved with the clock that it had
  exchange()
  a.leaves(1)
  exchange()
  expect([a.shown, b.shown]).toEqual([{ 1: 11 }, { 1: 11 }])
  a.says(1, 2, 12)
  b.leaves(1)
  exchange()
  exchange()
  expect([a.shown, b.shown]).toEqual([{ 1: 12 }, { 1: 12 }])
})
