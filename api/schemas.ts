/** Schemas that several operations share. They validate what comes in and describe what goes out. */
import Type, { type TSchema } from 'typebox'
import { bodyLimit, kinds, textLimits } from '../core/card.ts'
import { errorCodes } from '../core/errors.ts'
import { groupShapes } from '../core/group.ts'
import { layoutNames } from '../core/layout/arrangement.ts'
import { limits } from '../core/limits.ts'

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const uuid = Type.String({ format: 'uuid' })
export const timestamp = Type.String({ format: 'date-time' })
const text = (limit: number) => Type.Optional(nullable(Type.String({ maxLength: limit })))

export const boardParams = Type.Object({ id: uuid })

export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: limits.pageSize.max, default: limits.pageSize.default }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 })),
}

export const pageAnswer = {
  limit: Type.Integer(),
  offset: Type.Integer(),
  has_more: Type.Boolean(),
  next_offset: nullable(Type.Integer()),
}

export const cursor = Type.Optional(
  Type.String({ maxLength: 200, description: 'The `next_cursor` of the page before.' }),
)

export const cursorAnswer = {
  limit: Type.Integer(),
  has_more: Type.Boolean(),
  next_cursor: nullable(Type.String()),
}

export const errorAnswer = Type.Object({
  error: Type.String({ description: 'For a person.' }),
  code: Type.Enum(errorCodes, { description: 'Stable; branch on this.' }),
})

export const identifiers = Type.Array(
  Type.Object({
    scope: Type.String({ minLength: 1, maxLength: limits.identifiers.scope }),
    value: Type.String({ minLength: 1, maxLength: limits.identifiers.value }),
  }),
  { maxItems: limits.identifiers.perObject },
)
export const props = Type.Object({}, { additionalProperties: true })

export const boardView = Type.Enum(['canvas', 'list'])

export const boardAnswer = Type.Object({
  id: uuid,
  name: Type.String(),
  workspace_id: uuid,
  parent_board_id: nullable(uuid),
  view: boardView,
  deleted: Type.Boolean(),
  created_at: timestamp,
  updated_at: nullable(timestamp),
  scheduled_date: nullable(Type.String({ format: 'date' })),
  scheduled_end: nullable(Type.String({ format: 'date' })),
  day_label: nullable(Type.String()),
  sched_status: Type.Enum(['draft', 'published', 'cancelled']),
  sched_version: Type.Integer(),
  sched_published_at: nullable(timestamp),
  props: Type.Optional(nullable(props)),
  identifiers: Type.Optional(identifiers),
})

const number = (options: { minimum?: number; maximum?: number; description?: string } = {}) =>
  Type.Optional(Type.Number(options))
const coordinate = number({
  minimum: -limits.coordinate,
  maximum: limits.coordinate,
  description: 'Rounded.',
})

/** The fields of a card that a write may carry. */
export const cardFields = {
  kind: Type.Optional(Type.String({ description: `One of ${kinds.join(', ')}.` })),
  title: text(textLimits.title),
  body: text(bodyLimit),
  html: text(textLimits.html),
  url: text(textLimits.url),
  image_key: text(textLimits.image_key),
  file_key: text(textLimits.file_key),
  poster_key: text(textLimits.poster_key),
  file_name: text(textLimits.file_name),
  mime: text(textLimits.mime),
  ext: text(textLimits.ext),
  alt: text(textLimits.alt),
  color: text(textLimits.color),
  group_id: text(textLimits.group_id),
  sub: text(textLimits.sub),
  size_bytes: Type.Optional(
    nullable(Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Rounded.' })),
  ),
  x: coordinate,
  y: coordinate,
  w: number({ description: 'Clamped to 40 to 4000; 280 when absent.' }),
  h: number({ description: 'Clamped to 40 to 4000; 180 when absent.' }),
  z: number({
    minimum: -limits.z,
    maximum: limits.z,
    description: 'Higher is in front; above all when absent.',
  }),
  rotation: number({ description: 'Degrees, wrapped into -180 to 180.' }),
  section_header: Type.Optional(Type.Boolean()),
  props: Type.Optional(nullable(props)),
  identifiers: Type.Optional(nullable(identifiers)),
}

const shown = (schema: TSchema) => Type.Optional(schema)
const nullableText = nullable(Type.String())

export const cardAnswer = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  title: nullableText,
  body: nullableText,
  html: nullableText,
  url: nullableText,
  image_key: nullableText,
  alt: nullableText,
  color: nullableText,
  file_key: shown(Type.String()),
  poster_key: shown(Type.String()),
  file_name: shown(Type.String()),
  mime: shown(Type.String()),
  ext: shown(Type.String()),
  size_bytes: shown(Type.Number()),
  x: Type.Number(),
  y: Type.Number(),
  w: Type.Number(),
  h: Type.Number(),
  z: Type.Number(),
  rotation: Type.Number(),
  group_id: shown(Type.String()),
  section_header: Type.Boolean(),
  sub: shown(Type.String()),
  props: shown(nullable(props)),
  identifiers: shown(identifiers),
  width: Type.Optional(
    nullable(Type.Integer({ description: 'Of an image card: pixels of the image that it shows.' })),
  ),
  height: shown(nullable(Type.Integer())),
  bytes: Type.Optional(
    nullable(Type.Integer({ description: 'Of an image card: the size of the file that it shows.' })),
  ),
  raw: shown(Type.Unknown()),
  restore_token: shown(uuid),
  created: Type.Optional(Type.Boolean({ description: 'With `on_conflict`: it is new.' })),
  created_at: nullable(timestamp),
  updated_at: nullable(timestamp),
})

export const indexCardAnswer = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  title: nullableText,
  x: Type.Number(),
  y: Type.Number(),
  image_key: nullableText,
  updated_at: timestamp,
})

export const groupParams = Type.Object({ id: uuid, groupId: Type.String() })

export const groupAnswer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  color: nullableText,
  shape: Type.Enum([...groupShapes]),
  outline: Type.Boolean(),
  card_count: Type.Integer(),
  created_at: nullable(timestamp),
})

export const layout = Type.Enum([...layoutNames])

/** Of a feed: the card was removed from the board, or moved away. */
export const removedCardAnswer = Type.Object({
  id: Type.String(),
  deleted: Type.Literal(true),
  updated_at: timestamp,
})

export const live = Type.Boolean({
  description:
    'Whether open canvases have the change already. False: it is saved, and an open canvas may need a reload.',
})
