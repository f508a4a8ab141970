/** The events that webhooks subscribe to, and what their payloads hold. */
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

/** What `POST /webhooks/{id}/test` sends; nobody subscribes to it. */
export const testEvent = 'webhook.test'

/** Subscribes to everything, event types that are added later included. */
export const everyEvent = '*'

export const isEventType = (name: string): name is EventType =>
  (eventTypes as readonly string[]).includes(name)

/** An event as the outbox gives it. */
export interface ServiceEvent {
  type: string
  resource: { type: string; id: string }
  workspaceId: string
  boardId: string | null
  data: Record<string, unknown>
  occurredAt: Date
}

/** The exact text that is sent: made once, stored, signed. */
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
