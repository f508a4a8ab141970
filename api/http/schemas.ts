/**
 * Schemas that several operations share. They validate requests and describe answers.
 *
 * `Board` and `Group` are the shapes `boardAnswer` and `groupAnswer` with a name and descriptions.
 */
import Type, { type TOptional, type TSchema, type TUnsafe } from 'typebox'
import { describedEntries } from '../../core/board-columns.ts'
import { cardFields, fieldEntries, type CardField, type CardInput, type FieldName } from '../../core/card.ts'
import { errorCodes, type ErrorCode } from '../../core/errors.ts'
import type { JsonType } from '../../core/field-types.ts'
import { groupShapes } from '../../core/group.ts'
import { layoutNames } from '../../core/layout/arrangement.ts'
import { limits } from '../../core/limits.ts'
import { describeFields, describeSchema, named } from './named.ts'

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const uuid = Type.String({ format: 'uuid' })
export const timestamp = Type.String({ format: 'date-time' })
export const boardId = Type.String({ format: 'uuid', description: 'Id of the board.' })
export const workspaceId = Type.String({ format: 'uuid', description: 'Id of the workspace.' })
export const cardId = Type.String({ description: 'Id of the card.' })
export const createdAt = Type.String({ format: 'date-time', description: 'When it was created.' })
export const updatedAt = Type.String({ format: 'date-time', description: 'When it was last changed.' })

export const boardParams = Type.Object({ id: boardId })
export const cardParams = Type.Object({ id: boardId, cardId })

export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.pageSize.max,
      default: limits.pageSize.default,
      description: `Most entries of a page, 1 to ${limits.pageSize.max}. Default: ${limits.pageSize.default}.`,
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: 'Entries to skip: the `next_offset` of the previous page.',
    }),
  ),
}

const pageLimit = Type.Integer({ description: 'The `limit` of this page.' })
const hasMore = Type.Boolean({ description: 'Whether there is another page now.' })

export const pageAnswer = {
  limit: pageLimit,
  offset: Type.Integer({ description: 'Entries that were skipped.' }),
  has_more: hasMore,
  next_offset: nullable(
    Type.Integer({ description: 'The `offset` of the next page. Null on the last page.' }),
  ),
}

export const cursor = Type.Optional(
  Type.String({
    maxLength: 200,
    description: 'The `next_cursor` of the previous page. Send it with the same filters.',
  }),
)

export const cursorAnswer = {
  limit: pageLimit,
  has_more: hasMore,
  next_cursor: nullable(
    Type.String({ description: 'The `cursor` of the next page. Null when there is no next page.' }),
  ),
}

/** The end of a page of a change feed. */
export const feedAnswer = {
  ...cursorAnswer,
  next_cursor: Type.String({
    description:
      'The `cursor` of the next page. It is also set on the last page: send it later to get newer changes.',
  }),
}

export const errorAnswer = named(
  'Error',
  Type.Object({
    error: Type.String({
      description: 'What is wrong and what is accepted, in English. The wording may change.',
    }),
    code: Type.Enum(errorCodes, {
      description: 'The kind of error. Codes never change: branch on them.',
    }),
  }),
  'The body of every error.',
)

/** The body of an error that has one of these codes. */
export const refusal = (codes: readonly ErrorCode[]) =>
  Type.Intersect([
    errorAnswer,
    Type.Object({ code: Type.Enum([...codes], { description: 'The codes of this status.' }) }),
  ])

export const Identifier = named(
  'Identifier',
  Type.Object({
    scope: Type.String({
      minLength: 1,
      maxLength: limits.identifiers.scope,
      description: 'Name of the other system, such as `shotgrid`.',
    }),
    value: Type.String({
      minLength: 1,
      maxLength: limits.identifiers.value,
      description: 'The id in that system.',
    }),
  }),
  'The id of a board or a card in another system.',
)

export const identifiers = Type.Array(Identifier, {
  maxItems: limits.identifiers.perObject,
  description: `Ids in other systems, at most ${limits.identifiers.perObject}. A write replaces the whole list.`,
})
export const props = Type.Object(
  {},
  {
    additionalProperties: true,
    description: `Free properties: any JSON object of at most ${limits.props.bytes / 1024} KB and ${limits.props.depth} levels. A write replaces the whole object.`,
  },
)

const ownData = { props, identifiers }

export const boardView = Type.Enum(['canvas', 'list'], { description: 'How clients show the board.' })

const shownColumns = Object.fromEntries(
  describedEntries.map(([name, { json, says }]) => [
    name,
    describeSchema(nullable(typeOf<string>(json)), says),
  ]),
)

export const boardAnswer = Type.Object({
  id: uuid,
  name: Type.String(),
  workspace_id: uuid,
  parent_board_id: nullable(uuid),
  view: boardView,
  deleted: Type.Boolean(),
  created_at: timestamp,
  updated_at: nullable(timestamp),
  ...shownColumns,
  sched_status: Type.Enum(['draft', 'published', 'cancelled']),
  sched_version: Type.Integer(),
  sched_published_at: nullable(timestamp),
  props: Type.Optional(nullable(props)),
  identifiers: Type.Optional(identifiers),
})

export const Board = named(
  'Board',
  describeFields(
    Type.Object({
      ...boardAnswer.properties,
      created: Type.Optional(
        Type.Boolean({
          description:
            'Only in the answer to a batch with `on_conflict`: true when the board is new, false when it was updated.',
        }),
      ),
    }),
    {
      id: 'Id of the board.',
      name: `Name of the board, 1 to ${limits.boardName} characters.`,
      workspace_id: 'Id of the board’s workspace.',
      parent_board_id:
        'Id of the parent board. Null for a top-level board, and when the caller may not see the parent.',
      view: 'How clients show the board.',
      deleted: 'Whether the board is in the trash.',
      created_at: 'When the board was created.',
      updated_at: 'When the board itself was last changed. Changes of its cards do not count.',
      sched_status: 'Status of the schedule: draft, published or cancelled.',
      sched_version: 'Version of the schedule. Each publication increases it by one.',
      sched_published_at: 'When the schedule was last published. Null: never.',
      props: cardFields.props.says,
      identifiers: cardFields.identifiers.says,
    },
  ),
  'A board: a canvas with cards on it.',
)

const imageFigure = (what: string) =>
  describeSchema(nullable(Type.Integer()), `Image cards only: ${what}. Null when unknown.`)

/** The fields of a card that a write may carry. */
export const cardInput = Object.fromEntries(
  fieldEntries.map(([name, field]) => [name, Type.Optional(inputSchema(field))]),
) as { [Name in FieldName]-?: TOptional<TUnsafe<CardInput[Name]>> }

function inputSchema({ json, clears, says, asks = says }: CardField): TSchema {
  const schema = typeof json === 'string' ? ownData[json] : Type.Unsafe({ ...json, description: asks })
  return clears ? nullable(schema) : schema
}

const shownFields = Object.fromEntries(
  fieldEntries.map(([name, field]) => [
    name,
    field.shown ? Type.Optional(shownSchema(field)) : shownSchema(field),
  ]),
)

function shownSchema({ json, unset, shown, says }: CardField): TSchema {
  if (typeof json === 'string')
    return describeSchema(unset === null ? nullable(ownData[json]) : ownData[json], says)
  const schema = typeOf<unknown>(json)
  if (shown === 'filled') return describeSchema(schema, `${says} Absent when the card has no value for it.`)
  return describeSchema(unset === null ? nullable(schema) : schema, says)
}

function typeOf<Value>({ type, format }: JsonType) {
  return Type.Unsafe<Value>(format ? { type, format } : { type })
}

export const Card = named(
  'Card',
  Type.Object({
    id: Type.String({ description: 'Id of the card, unique on its board.' }),
    ...shownFields,
    width: Type.Optional(imageFigure('width of the stored image in pixels')),
    height: Type.Optional(imageFigure('height of the stored image in pixels')),
    bytes: Type.Optional(imageFigure('size of the stored file in bytes')),
    raw: Type.Optional(
      Type.Unknown({
        description:
          'Only with `include=raw`: all data of the card, in the editors’ own format, which may change.',
      }),
    ),
    restore_token: Type.Optional(
      Type.String({
        format: 'uuid',
        description: `Only for a removed card. Send it with the card to \`POST /boards/{id}/cards\` within ${limits.trashDays} days, to restore also the data that the API does not show.`,
      }),
    ),
    created: Type.Optional(
      Type.Boolean({
        description:
          'Only in the answer to a create with `on_conflict`: true when the card is new, false when it was updated.',
      }),
    ),
    created_at: describeSchema(
      nullable(timestamp),
      'When the card was created. Null until the card is in the index.',
    ),
    updated_at: describeSchema(
      nullable(timestamp),
      'When the card was last changed. Null until the card is in the index.',
    ),
  }),
  'A card on a board.',
)

export const IndexCard = named(
  'IndexCard',
  Type.Object({
    id: cardId,
    ...Object.fromEntries(
      fieldEntries
        .filter(([, { index }]) => index === 'always' || index === 'asked')
        .map(([name, field]) => [
          name,
          field.index === 'always' ? shownSchema(field) : Type.Optional(shownSchema(field)),
        ]),
    ),
    updated_at: updatedAt,
  }),
  'The main fields of a card, from the index. The index may be some seconds behind an open editor.',
)

export const groupParams = Type.Object({
  id: boardId,
  groupId: Type.String({ description: 'Id of the group.' }),
})

export const groupAnswer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  color: nullable(Type.String()),
  shape: Type.Enum([...groupShapes]),
  outline: Type.Boolean(),
  card_count: Type.Integer(),
  created_at: nullable(timestamp),
})

export const Group = named(
  'Group',
  describeFields(groupAnswer, {
    id: 'Id of the group, unique on its board.',
    name: `Name of the group, 1 to ${limits.name} characters.`,
    color: 'Color of the group. Null: the default.',
    shape: '`box` draws a rectangle around the cards, `hug` follows their outline.',
    outline: 'Whether the outline is drawn.',
    card_count: 'How many cards the group has.',
    created_at: 'When the group was created. Null when that is unknown.',
  }),
  'A group of cards on a board.',
)

export const layout = Type.Enum([...layoutNames], { description: 'How the cards are arranged.' })

export const RemovedCard = named(
  'RemovedCard',
  Type.Object({
    id: cardId,
    deleted: Type.Literal(true, { description: 'Always true.' }),
    updated_at: Type.String({ format: 'date-time', description: 'When the card left the board.' }),
  }),
  'An entry of a change feed: a card that was removed from the board, or moved to another board.',
)

export const live = Type.Boolean({
  description:
    'True: open editors already show the change. False: the change is saved, but an open editor may need a reload.',
})

/** The answer to a deletion. */
export const deletedAnswer = (what: string) =>
  Type.Object({
    deleted: Type.Literal(true, { description: 'Always true.' }),
    id: Type.String({ format: 'uuid', description: `Id of the ${what}.` }),
  })

export const notFound = Type.Array(Type.String(), {
  description: 'Ids from the request that are not on the board.',
})
