/**
 * Who is where on a board (awareness). A state lies in memory for as long as its connection is there and goes to
 * everybody on the board, so one connection may have a few of them, small ones, and none of another account's.
 */
import type { Document, Extension } from '@hocuspocus/server'
import { removeAwarenessStates } from 'y-protocols/awareness'
import { isPlainObject } from '../core/card.ts'
import type { EditorContext, Seat } from './connection.ts'

export interface PresenceBounds {
  /** States that one connection may have; an editor has one. */
  maxStatesPerConnection: number
  /** JSON of one state. */
  maxStateBytes: number
}

const maxStateDepth = 16

/** What is out of bounds is left out of the frame; the rest passes. */
export function presence(bounds: PresenceBounds): Extension<EditorContext> {
  const seats = new WeakMap<Document, Map<number, Seat>>()

  /** Whether this seat may speak for the client. Who comes back takes over from its own earlier connection. */
  function speaksFor(seat: Seat, client: number, document: Document, owners: Map<number, Seat>): boolean {
    const owner = owners.get(client)
    if (owner === seat) return true
    if (owner && owner.account !== seat.account) return false
    if (seat.clients.size >= bounds.maxStatesPerConnection) return false
    if (owner?.connection) {
      owner.clients.delete(client)
      document.getClients(owner.connection).delete(client) // else its end would take the state with it
    }
    owners.set(client, seat)
    seat.clients.add(client)
    return true
  }

  return {
    extensionName: 'presence',
    async beforeHandleAwareness({ document, connection, states }) {
      const seat = (connection?.context as EditorContext | undefined)?.seat
      if (!seat) return
      const owners = seats.get(document) ?? new Map<number, Seat>()
      seats.set(document, owners)
      for (const [client, state] of states) {
        // Hocuspocus reads the frame by an awareness whose own empty state is among them.
        const isNobody = Object.keys(state).length === 0 && owners.get(client) !== seat
        if (isNobody || !fits(state, bounds.maxStateBytes) || !speaksFor(seat, client, document, owners))
          states.delete(client)
      }
    },
    async onDisconnect({ document, context }) {
      const owners = seats.get(document)
      for (const client of context.seat.clients) owners?.delete(client)
      // Hocuspocus forgets a client that has been here before.
      removeAwarenessStates(document.awareness, [...context.seat.clients], null)
      context.seat.clients.clear()
    },
  }
}

function fits(state: unknown, maxBytes: number): boolean {
  return (
    isPlainObject(state) &&
    isShallow(state, maxStateDepth) &&
    Buffer.byteLength(JSON.stringify(state)) <= maxBytes
  )
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1))
}

/** Yjs keeps the clock of every client that ever had a state. */
export function forgetLeft(document: Document): void {
  const { meta, states, clientID } = document.awareness
  if (meta.size <= states.size + 1) return
  document.flush() // what is still to be sent refers to those clocks
  for (const client of meta.keys()) if (!states.has(client) && client !== clientID) meta.delete(client)
}
