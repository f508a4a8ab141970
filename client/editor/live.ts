/** A live list: what changes about the boards that an account sees, and how many people are on each. */
import * as Y from 'yjs'
import { Connection, type BoardStatus, type ConnectionOptions, type Message } from './connection.ts'
import type { Store } from './store.ts'

/** A board was made, changed, deleted or restored, or this account's access began or ended. */
export interface LiveEvent {
  type: string
  resource: { type: string; id: string }
  workspace: { id: string }
  board: { id: string } | null
  data: Readonly<Record<string, unknown>>
  occurred_at: string
}

export interface LiveOptions extends Omit<ConnectionOptions, 'board'> {
  /** `account`, or `workspace:` and the id of a workspace. */
  name: string
  /** Called when events may be missing, and at the beginning: read the list anew. */
  onReset: () => void
  /** Called with each event. After a lost connection an event may come twice, with the same id. */
  onEvent: (event: LiveEvent, id: string) => void
  /** Called with the number of people by board, whenever it changes. A board that is not in it has nobody. */
  onPeople?: (people: ReadonlyMap<string, number>) => void
}

export interface LiveList {
  readonly status: Store<BoardStatus>
  /** Connects again when the status is `closed`, such as after a new sign-in. */
  reconnect(): void
  close(): void
}

/** Opens a live list. After a lost connection it goes on with the event after the last one, or calls `onReset`. */
export function openLive({ name, onReset, onEvent, onPeople, ...options }: LiveOptions): LiveList {
  const people = new Map<string, number>()
  let last: unknown
  // Until the service has answered `resume`, events that come are newer than those that are still missing.
  let isResuming = false
  const told = (message: Message) => {
    const { type, id } = message
    if (type === 'ready' && last !== undefined) {
      isResuming = true
      connection.provider.sendStateless(JSON.stringify({ type: 'resume', id: last }))
    } else if (type === 'ready' || type === 'reset') {
      isResuming = false
      last = id
      onReset()
    } else if (type === 'resumed') isResuming = false
    else if (type === 'position') {
      if (!isResuming) last = id
    } else if (type === 'event') {
      if (!isResuming) last = id
      onEvent(message['event'] as LiveEvent, String(id))
    } else if (type === 'people') {
      if (message['all']) people.clear()
      for (const [board, count] of Object.entries(message['boards'] as Record<string, number>))
        if (count > 0) people.set(board, count)
        else people.delete(board)
      onPeople?.(new Map(people))
    } else options.onMessage?.(message)
  }
  const document = new Y.Doc()
  const connection = new Connection(document, { ...options, board: name, onMessage: told }, '')
  connection.open()
  return {
    status: connection.status,
    reconnect: () => connection.reconnect(),
    close() {
      connection.destroy()
      document.destroy()
    },
  }
}
