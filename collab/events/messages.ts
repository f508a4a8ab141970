/** An event as it is sent: the same JSON to all who may see the same of it. */
import { eventId, type JournalEvent } from './position.ts'

export class EventMessage {
  readonly id: string
  readonly type: string
  readonly payload: string
  /** Forms of the message, each made once for all followers; by the name of the form. */
  readonly #made = new Map<string, unknown>()

  constructor(event: JournalEvent, payload: string) {
    this.id = eventId(event)
    this.type = event.type
    this.payload = payload
  }

  as<T>(form: string, make: (message: EventMessage) => T): T {
    return this.#made.getOrInsertComputed(form, () => make(this)) as T
  }
}

/** Returns a function that gives the message for members of the workspace, or for others. */
export function messagesOf(event: JournalEvent): (isMember: boolean) => EventMessage {
  let forMembers: EventMessage | null = null
  let forGuests: EventMessage | null = null
  return (isMember) =>
    isMember
      ? (forMembers ??= new EventMessage(event, event.payload!))
      : (forGuests ??= new EventMessage(event, payloadForGuests(event.payload!)))
}

/** A guest of a board may not see its parent, nor the board from which cards came. */
function payloadForGuests(payload: string): string {
  const body = JSON.parse(payload) as { data: Record<string, unknown> }
  const { from_board_id: _from, ...data } = body.data
  if ('parent_board_id' in data) data['parent_board_id'] = null
  return JSON.stringify({ ...body, data })
}
