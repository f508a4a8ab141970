/** The `webhooks` section of the API description: the request that each event posts to a webhook's URL. */
import Type, { type TSchema } from 'typebox'
import { nullable, id, integer, list, named, object, text, time, uuid } from '../http/vocabulary.ts'
import { events, testEvent } from '../../core/events.ts'
import { limits } from '../../core/limits.ts'
import { Board } from '../http/schemas.ts'
import { Webhook } from '../webhooks/webhook.ts'
import { ImageRecord } from '../files/list.ts'
import type { Components } from './components.ts'
import { pascal } from './errors.ts'

const { name, parent_board_id, view } = Board.properties
const { bytes, width, height, content_type } = ImageRecord.properties

const boardData = named('BoardEventData', 'The board after the change.', {
  name,
  parent_board_id,
  view,
  changed: list(
    Type.Enum(['name', 'view', 'parent_board_id', 'deleted']),
    'The fields that changed. Empty when the board is new or was removed permanently.',
  ),
})
const cardData = named('CardEventData', 'The cards that one operation changed on a board.', {
  count: integer('How many cards the event is about.'),
  card_ids: list(Type.String(), `Ids of the first ${limits.eventCardIds} of these cards.`, {
    maxItems: limits.eventCardIds,
  }),
  from_board_id: Type.Optional(id('Only for `card.moved`: the previous board of the cards.')),
})
const imageData = named('ImageEventData', 'The file that was uploaded.', {
  bytes,
  width,
  height,
  content_type,
})

interface Kind {
  /** Type of the resource. */
  type: string
  resource: string
  data: TSchema
  hasBoard: boolean
}
const kinds: Record<string, Kind> = {
  board: { type: 'board', resource: 'The board’s id.', data: boardData, hasBoard: true },
  card: {
    type: 'board',
    resource: 'The board’s id. The ids of the cards are in `data`.',
    data: cardData,
    hasBoard: true,
  },
  image: { type: 'image', resource: 'The file’s key.', data: imageData, hasBoard: true },
  webhook: {
    type: 'webhook',
    resource: 'The webhook’s id.',
    data: Type.Object({}, { description: 'Empty.' }),
    hasBoard: false,
  },
}

const described: Record<string, string> = {
  ...events,
  [testEvent]: 'A test delivery from `POST /webhooks/{id}/test`. Webhooks cannot subscribe to it.',
}

export function describeEvents(
  components: Components,
  examples: Record<string, unknown>,
): Record<string, object> {
  return Object.fromEntries(
    Object.entries(described).map(([event, summary]) => [
      event,
      { post: describeEvent(event, summary, components, examples[event]) },
    ]),
  )
}

function describeEvent(event: string, summary: string, components: Components, example: unknown): object {
  const schema = components.refer(eventSchema(event, summary))
  return {
    summary,
    description: `A 2xx response within ${limits.webhooks.attemptMs / 1000} seconds is a success. Otherwise the delivery is retried, up to ${limits.webhooks.attempts} attempts in total. Verify the signature over the raw body before you parse the body.`,
    operationId: `on${pascal(event)}`,
    tags: ['Webhooks'],
    security: [],
    parameters: deliveryHeaders,
    requestBody: {
      required: true,
      content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
    },
    responses: {
      '2XX': { description: 'The delivery was received.' },
      '4XX': {
        description:
          'The delivery failed and is retried later. The same applies to all other statuses except 2xx.',
      },
    },
  }
}

/** The schema of a delivery's body, which `payloadText` writes. */
function eventSchema(event: string, summary: string): TSchema {
  const { type, resource, data, hasBoard } = kinds[event.split('.')[0]!]!
  const board = Type.Object({ id: Board.properties.id })
  return named(`${pascal(event)}Event`, summary, {
    type: Type.Literal(event, { description: 'Name of the event.' }),
    resource: object('The resource that the event is about.', {
      type: Type.Literal(type, { description: 'Type of the resource.' }),
      id: text(resource),
    }),
    workspace: object('The workspace that the event happened in.', { id: Webhook.properties.workspace_id }),
    board: hasBoard
      ? type === 'image'
        ? nullable(board, 'The board that the file was uploaded for. Null: none.')
        : { ...board, description: 'The board that the event happened on.' }
      : Type.Null({ description: 'Always null.' }),
    data,
    occurred_at: time('When the event happened.'),
  })
}

const header = (name: string, description: string, schema: object = { type: 'string' }) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema,
})

const deliveryHeaders = [
  header(
    'X-Service-Signature',
    '`v0=<hex>`: the HMAC-SHA256 of `v0:<timestamp>:<raw body>`, keyed with the webhook’s secret. For a day after a rotation, the key is one of the two secrets.',
  ),
  header(
    'X-Service-Signatures',
    'The same signature for each valid secret, separated by commas. For a day after a rotation there are two.',
  ),
  header(
    'X-Service-Request-Timestamp',
    'When this attempt was signed, in Unix seconds. Refuse the delivery if this differs from your clock by more than 300 seconds.',
    { type: 'integer' },
  ),
  header('X-Service-Event', 'Name of the event, as in `type`.'),
  header(
    'X-Service-Delivery',
    'Id of the delivery. All its attempts have the same id: use it to process a delivery only once.',
    uuid,
  ),
  header('webhook-id', 'Id of the delivery, in the header of Standard Webhooks.', uuid),
  header('webhook-timestamp', 'The timestamp, in the header of Standard Webhooks.', { type: 'integer' }),
  header(
    'webhook-signature',
    'The signatures in the format of Standard Webhooks: `v1,<base64>`, separated by spaces.',
  ),
  {
    ...header(
      'traceparent',
      'The trace of the request that caused the event (W3C Trace Context). Missing when that request had no trace, and for changes by editors.',
    ),
    required: false,
  },
]
