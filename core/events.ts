/** The events that webhooks subscribe to, with what the API description says of each, and their payloads. */
export const events = {
  'board.created': 'A board was created.',
  'board.updated': 'The name, the view or the parent of a board changed.',
  'board.deleted': 'A board was moved to the trash, or removed permanently.',
  'board.restored': 'A board was restored from the trash.',
  'card.created': 'Cards were added to a board.',
  'card.updated': 'The contents of cards changed.',
  'card.deleted': 'Cards were removed from a board.',
  'card.moved': 'Cards were moved to this board from another one.',
  'image.created': 'An upload was completed.',
}

export const eventTypes = Object.keys(events)

/** Events that only the account gets whose access they tell of. Webhooks can't subscribe to them. */
export const accessEvents = {
  'access.granted': 'The account got access to a workspace or a board, or has another role there.',
  'access.ended': 'The account lost its access to a workspace or a board.',
}

export const accessEventTypes = Object.keys(accessEvents)

/** The events of a live list: they change which boards an account sees, and how these are named and nested. */
export const listEventTypes = [...eventTypes.filter((type) => type.startsWith('board.')), ...accessEventTypes]

/** The event of `POST /webhooks/{id}/test`. Webhooks can't subscribe to it. */
export const testEvent = 'webhook.test'

/** Subscribes to all events, including types added later. */
export const everyEvent = '*'

export interface ServiceEvent {
  type: string
  resource: { type: string; id: string }
  workspaceId: string
  boardId: string | null
  data: Record<string, unknown>
  occurredAt: Date
  /** The trace of the request that caused the event. Null: the request has none, or an editor or plain SQL caused it. */
  trace: string | null
}

/** The body of the delivery. It is made once, stored, signed and sent as is. */
export function payloadText(event: Omit<ServiceEvent, 'trace'>): string {
  return JSON.stringify({
    type: event.type,
    resource: event.resource,
    workspace: { id: event.workspaceId },
    board: event.boardId === null ? null : { id: event.boardId },
    data: event.data,
    occurred_at: event.occurredAt.toISOString(),
  })
}
