/**
 * Schemas that several operations share. They validate requests and describe answers.
 */
import Type, { type TOptional, type TProperties, type TSchema, type TUnsafe } from 'typebox'
import {
  describeSchema,
  flag,
  id,
  integer,
  list,
  named,
  nullable,
  object,
  oneOf,
  text,
  time,
  timestamp,
  uuid,
} from './vocabulary.ts'
import { describedEntries } from '../../core/board-columns.ts'
import {
  cardFields,
  fieldEntries,
  type CardField,
  type CardInput,
  type FieldName,
  type ShownFields,
} from '../../core/card.ts'
import { errorCodes, type ErrorCode } from '../../core/errors.ts'
import type { JsonType } from '../../core/field-types.ts'
import { groupShapes } from '../../core/group.ts'
import { layoutNames } from '../../core/layout/solve.ts'
import { limits } from '../../core/limits.ts'

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const boardId = id('Id of the board.')
export const workspaceId = id('Id of the workspace.')
export const cardId = text('Id of the card.')
export const createdAt = time('When it was created.')
export const updatedAt = time('When it was last changed.')

const version = text(
  'Changes with every change of the object, and never otherwise. Opaque. Send it as `if_version`, or in quotes as `If-Match`.',
)

export const boardParams = Type.Object({ id: boardId })
export const cardParams = Type.Object({ id: boardId, cardId })

export const pageQuery = {
  limit: Type.Optional(
    integer(`Most entries of a page, 1 to ${limits.pageSize.max}. Default: ${limits.pageSize.default}.`, {
      minimum: 1,
      maximum: limits.pageSize.max,
      default: limits.pageSize.default,
    }),
  ),
  offset: Type.Optional(
    integer('Entries to skip: the `next_offset` of the previous page.', {
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
    }),
  ),
}

const pageLimit = integer('The `limit` of this page.')
const hasMore = flag('Whether there is another page now.')

export const pageAnswer = {
  limit: pageLimit,
  offset: integer('Entries that were skipped.'),
  has_more: hasMore,
  next_offset: nullable(integer('The `offset` of the next page. Null on the last page.')),
}

export const cursor = Type.Optional(
  text('The `next_cursor` of the previous page. Send it with the same filters.', { maxLength: 200 }),
)

export const cursorAnswer = {
  limit: pageLimit,
  has_more: hasMore,
  next_cursor: nullable(text('The `cursor` of the next page. Null when there is no next page.')),
}

/** The answer of a list: its fields, and the end of the page. */
export const offsetPage = <T extends TProperties>(fields: T) => Type.Object({ ...fields, ...pageAnswer })
export const cursorPage = <T extends TProperties>(fields: T) => Type.Object({ ...fields, ...cursorAnswer })

/** The end of a page of a change feed. */
export const feedAnswer = {
  ...cursorAnswer,
  next_cursor: text(
    'The `cursor` of the next page. It is also set on the last page: send it later to get newer changes.',
  ),
}

export const errorAnswer = named('Error', 'The body of every error.', {
  error: text('What is wrong and what is accepted, in English. The wording may change.'),
  code: oneOf(errorCodes, 'The kind of error. Codes never change: branch on them.'),
})

/** The body of an error that has one of these codes. */
export const refusal = (codes: readonly ErrorCode[]) =>
  Type.Intersect([errorAnswer, Type.Object({ code: oneOf(codes, 'The codes of this status.') })])

export const Identifier = named('Identifier', 'The id of a board or a card in another system.', {
  scope: text('Name of the other system, such as `shotgrid`.', {
    minLength: 1,
    maxLength: limits.identifiers.scope,
  }),
  value: text('The id in that system.', { minLength: 1, maxLength: limits.identifiers.value }),
})

export const identifiers = list(
  Identifier,
  `Ids in other systems, at most ${limits.identifiers.perObject}. A write replaces the whole list.`,
  { maxItems: limits.identifiers.perObject },
)
export const props = Type.Object(
  {},
  {
    additionalProperties: true,
    description: `Free properties: any JSON object of at most ${limits.props.bytes / 1024} KB and ${limits.props.depth} levels. A write replaces the whole object.`,
  },
)

const ownData = { props, identifiers }

export const boardView = oneOf(['canvas', 'list'], 'How clients show the board.')

const shownColumns = Object.fromEntries(
  describedEntries.map(([name, { json, says }]) => [name, nullable(typeOf<string>(json), says)]),
)

export const Board = named('Board', 'A board: a canvas with cards on it.', {
  id: id('Id of the board.'),
  version,
  name: text(`Name of the board, 1 to ${limits.boardName} characters.`),
  workspace_id: id('Id of the board’s workspace.'),
  parent_board_id: nullable(
    uuid,
    'Id of the parent board. Null for a top-level board, and when the caller may not see the parent.',
  ),
  view: boardView,
  deleted: flag('Whether the board is in the trash.'),
  created_at: time('When the board was created.'),
  updated_at: nullable(
    timestamp,
    'When the board itself was last changed. Changes of its cards do not count.',
  ),
  ...shownColumns,
  sched_status: oneOf(
    ['draft', 'published', 'cancelled'],
    'Status of the schedule: draft, published or cancelled.',
  ),
  sched_version: integer('Version of the schedule. Each publication increases it by one.'),
  sched_published_at: nullable(timestamp, 'When the schedule was last published. Null: never.'),
  props: Type.Optional(nullable(props, cardFields.props.says)),
  identifiers: Type.Optional(describeSchema(identifiers, cardFields.identifiers.says)),
  created: Type.Optional(
    flag(
      'Only in the answer to a batch with `on_conflict`: true when the board is new, false when it was updated.',
    ),
  ),
})

const imageFigure = (what: string) =>
  nullable(Type.Integer(), `Image cards only: ${what}. Null when unknown.`)

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

/** A card as answers show it. */
export type ShownCard = ShownFields & {
  id: string
  restore_token?: string
  created?: boolean
  version: string
  created_at: string | null
}

const card = named('Card', 'A card on a board.', {
  id: text('Id of the card, unique on its board.'),
  ...shownFields,
  width: Type.Optional(imageFigure('width of the stored image in pixels')),
  height: Type.Optional(imageFigure('height of the stored image in pixels')),
  bytes: Type.Optional(imageFigure('size of the stored file in bytes')),
  urls: Type.Optional(
    Type.Record(
      Type.String(),
      object('The URLs of a file.', {
        url: text('URL of the file that needs no token, for at most an hour.'),
        srcset: nullable(
          text(
            'For `<img srcset>`: URLs of smaller images with their widths. Null when the file has no smaller images.',
          ),
        ),
      }),
      {
        description:
          'Only with `include=urls`: by field (`image_key`, `file_key`, `poster_key`) the URLs of the file that it names.',
      },
    ),
  ),
  raw: Type.Optional(
    Type.Unknown({
      description:
        'Only with `include=raw`: all data of the card, in the editors’ own format, which may change.',
    }),
  ),
  restore_token: Type.Optional(
    id(
      `Only for a removed card. Send it with the card to \`POST /boards/{id}/cards\` within ${limits.trashDays} days, to restore also the data that the API does not show.`,
    ),
  ),
  created: Type.Optional(
    flag(
      'Only in the answer to a create with `on_conflict`: true when the card is new, false when it was updated.',
    ),
  ),
  version,
  created_at: nullable(timestamp, 'When the card was created. Null until the card is in the index.'),
  updated_at: nullable(timestamp, 'When the card was last changed. Null until the card is in the index.'),
})

export const Card = Type.Unsafe<ShownCard>(card)

export const IndexCard = named(
  'IndexCard',
  'The main fields of a card, from the index. The index may be some seconds behind an open editor.',
  {
    id: cardId,
    ...Object.fromEntries(
      fieldEntries
        .filter(([, { index }]) => index === 'always' || index === 'asked')
        .map(([name, field]) => [
          name,
          field.index === 'always' ? shownSchema(field) : Type.Optional(shownSchema(field)),
        ]),
    ),
    version,
    updated_at: updatedAt,
  },
)

export const groupParams = Type.Object({
  id: boardId,
  groupId: text('Id of the group.'),
})

export const Group = named('Group', 'A group of cards on a board.', {
  id: text('Id of the group, unique on its board.'),
  name: text(`Name of the group, 1 to ${limits.name} characters.`),
  color: nullable(Type.String(), 'Color of the group. Null: the default.'),
  shape: oneOf(groupShapes, '`box` draws a rectangle around the cards, `hug` follows their outline.'),
  outline: flag('Whether the outline is drawn.'),
  card_count: integer('How many cards the group has.'),
  created_at: nullable(timestamp, 'When the group was created. Null when that is unknown.'),
})

export const layout = oneOf(layoutNames, 'How the cards are arranged.')

export const RemovedCard = named(
  'RemovedCard',
  'An entry of a change feed: a card that was removed from the board, or moved to another board.',
  {
    id: cardId,
    deleted: Type.Literal(true, { description: 'Always true.' }),
    updated_at: time('When the card left the board.'),
  },
)

export const live = flag(
  'True: open editors already show the change. False: the change is saved, but an open editor may need a reload.',
)

/** The answer to a deletion. */
export const deletedAnswer = (what: string) =>
  Type.Object({
    deleted: Type.Literal(true, { description: 'Always true.' }),
    id: id(`Id of the ${what}.`),
  })

export const notFound = list(Type.String(), 'Ids from the request that are not on the board.')

export const conflicts = list(
  Card,
  'The cards whose version is not their `if_version`, as they are now. They were left alone.',
)
