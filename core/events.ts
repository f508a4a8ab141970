/** The events that webhooks subscribe to, and their payloads. */
export const eventTypes = [
  'board.created',
  'board.updated',
  'board.deleted',
  'board.restored',
  'card.created',
  'card.updated',
  'card.deleted',
  'card.moved',
  'image.created',
] as const

export type EventType = (typeof eventTypes)[number]

/** The event of `POST /webhooks/{id}/test`. Webhooks can't subscribe to it. */
export const testEvent = 'webhook.test'

/** Subscribes to all events, including types added later. */
export const everyEvent = '*'

export const isEventType = (name: string): name is EventType =>
  (eventTypes as readonly string[]).includes(name)

export interface ServiceEvent {
  type: string
  resource: { type: string; id: string }
  workspaceId: string
  boardId: string | null
  data: Record<string, unknown>
  occurredAt: Date
}

/** The body of the delivery. It is made once, stored, signed and sent as is. */
export function payloadText(event: ServiceEvent): string {
  return JSON.stringify({
    type: event.type,
    resource: event.resource,
    workspace: { id: event.workspaceId },
    board: event.boardId === null ? null : { id: event.boardId },
    data: event.data,
    occurred_at: event.occurredAt.toISOString(),
  })
}
