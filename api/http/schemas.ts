/**
 * Schemas that several operations share. They validate what comes in and describe what goes out.
 *
 * `Board`, `Card` and `Group` are the shapes `boardAnswer`, `cardAnswer` and `groupAnswer` with a name and descriptions.
 */
import Type, { type TSchema } from 'typebox'
import { bodyLimit, kinds, textLimits } from '../../core/card.ts'
import { errorCodes, type ErrorCode } from '../../core/errors.ts'
import { groupShapes } from '../../core/group.ts'
import { layoutNames } from '../../core/layout/arrangement.ts'
import { limits } from '../../core/limits.ts'
import { describeFields, named } from './named.ts'

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const uuid = Type.String({ format: 'uuid' })
export const timestamp = Type.String({ format: 'date-time' })
const text = (limit: number, description: string) =>
  Type.Optional(nullable(Type.String({ maxLength: limit, description })))

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
      description: `How many entries a page holds at most. 1 to ${limits.pageSize.max}; ${limits.pageSize.default} when absent.`,
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: 'How many entries to skip: the `next_offset` of the page before.',
    }),
  ),
}

const pageLimit = Type.Integer({ description: 'The `limit` that this page was made with.' })
const hasMore = Type.Boolean({ description: 'Whether there is another page now.' })

export const pageAnswer = {
  limit: pageLimit,
  offset: Type.Integer({ description: 'How many entries were skipped.' }),
  has_more: hasMore,
  next_offset: nullable(
    Type.Integer({ description: 'The `offset` of the next page. Null on the last page.' }),
  ),
}

export const cursor = Type.Optional(
  Type.String({
    maxLength: 200,
    description: 'The `next_cursor` of the page before. Send the same filters with it.',
  }),
)

export const cursorAnswer = {
  limit: pageLimit,
  has_more: hasMore,
  next_cursor: nullable(
    Type.String({ description: 'The `cursor` of the next page. Null when nothing can follow.' }),
  ),
}

/** The end of a page of a change feed. */
export const feedAnswer = {
  ...cursorAnswer,
  next_cursor: Type.String({
    description:
      'The `cursor` of the next page. On the last page too: send it later to get what changed since.',
  }),
}

export const errorAnswer = named(
  'Error',
  Type.Object({
    error: Type.String({
      description: 'What is wrong and what is accepted, in English. Its wording may change.',
    }),
    code: Type.Enum(errorCodes, {
      description: 'What kind of error it is. It never changes: branch on this.',
    }),
  }),
  'Every error has this body.',
)

/** The body of an error that has one of these codes. */
export const refusal = (codes: readonly ErrorCode[]) =>
  Type.Intersect([
    errorAnswer,
    Type.Object({ code: Type.Enum([...codes], { description: 'The codes that come with this status.' }) }),
  ])

export const Identifier = named(
  'Identifier',
  Type.Object({
    scope: Type.String({
      minLength: 1,
      maxLength: limits.identifiers.scope,
      description: 'Which system or register it belongs to, such as `shotgrid`.',
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
  description: `Its ids in other systems. At most ${limits.identifiers.perObject}.`,
})
export const props = Type.Object(
  {},
  {
    additionalProperties: true,
    description: `Any JSON of yours: at most ${limits.props.bytes / 1024} KB and ${limits.props.depth} levels. A write replaces all of it.`,
  },
)

export const boardView = Type.Enum(['canvas', 'list'], { description: 'How clients show the board.' })

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

export const Board = named(
  'Board',
  describeFields(
    Type.Object({
      ...boardAnswer.properties,
      created: Type.Optional(
        Type.Boolean({
          description:
            'In the answer to a batch with `on_conflict`: true when the board is new, false when it was updated.',
        }),
      ),
    }),
    {
      id: 'Id of the board.',
      name: `Its name, 1 to ${limits.boardName} characters.`,
      workspace_id: 'Id of the workspace that it belongs to.',
      parent_board_id:
        'Id of the board above it. Null for a top-level board, and when the caller may not see the parent.',
      view: 'How clients show it.',
      deleted: 'Whether it is in the trash.',
      created_at: 'When it was created.',
      updated_at: 'When the board itself was last changed. Changes of its cards do not count.',
      scheduled_date: 'The day that it is scheduled for, `YYYY-MM-DD`.',
      scheduled_end: 'The last day, of a board that is scheduled for several.',
      day_label: 'The name of the scheduled day, such as `Day 3`.',
      sched_status: 'Whether the schedule is a draft, published or cancelled.',
      sched_version: 'Goes up by one each time the schedule is published.',
      sched_published_at: 'When the schedule was last published.',
      props: 'Any JSON that was stored with it. Null when there is none. Lists have it with `include=props`.',
      identifiers: 'Its ids in other systems. Lists have them with `include=identifiers`.',
    },
  ),
  'A board: a canvas with cards on it.',
)

const number = (options: { minimum?: number; maximum?: number; description?: string } = {}) =>
  Type.Optional(Type.Number(options))
const { cardSize } = limits
const coordinate = (description: string) =>
  number({
    minimum: -limits.coordinate,
    maximum: limits.coordinate,
    description: `${description} Rounded. Without \`x\` and \`y\` a new card gets a free place.`,
  })
const side = (what: string, byDefault: number) =>
  number({
    description: `${what} in canvas pixels, clamped to ${cardSize.min} to ${cardSize.max}. ${byDefault} on create when absent.`,
  })

/** The fields of a card that a write may carry. */
export const cardFields = {
  kind: Type.Optional(
    Type.String({ description: `What the card is: one of ${kinds.join(', ')}. Required on create.` }),
  ),
  title: text(textLimits.title, 'One line of text. Null clears it, as it does any text here.'),
  body: text(bodyLimit, 'Plain text: of an image its caption, of audio its transcript.'),
  html: text(textLimits.html, 'Formatted text. Scripts, styles and unknown tags are removed.'),
  url: text(textLimits.url, 'An http, https or mailto URL that the card links to.'),
  image_key: text(textLimits.image_key, 'Key of the uploaded image that the card shows.'),
  file_key: text(textLimits.file_key, 'Key of the uploaded file that the card holds.'),
  poster_key: text(
    textLimits.poster_key,
    'Key of the uploaded image that a video card shows before it plays.',
  ),
  file_name: text(textLimits.file_name, 'The name that is shown for a pdf or another file.'),
  mime: text(textLimits.mime, 'Media type of the file, such as `video/mp4`.'),
  ext: text(textLimits.ext, 'Extension of the file, without the dot.'),
  alt: text(textLimits.alt, 'What the image shows, for those who can’t see it.'),
  color: text(textLimits.color, 'The color of the card, as editors write it, such as `#ffd966`.'),
  group_id: text(textLimits.group_id, 'Id of the group that the card is in. Null takes it out.'),
  sub: text(textLimits.sub, 'The line under a section heading.'),
  size_bytes: Type.Optional(
    nullable(
      Type.Number({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Size of the file in bytes, rounded.',
      }),
    ),
  ),
  x: coordinate('Left edge in canvas pixels, growing to the right.'),
  y: coordinate('Top edge in canvas pixels, growing downwards.'),
  w: side('Width', cardSize.defaultW),
  h: side('Height', cardSize.defaultH),
  z: number({
    minimum: -limits.z,
    maximum: limits.z,
    description: 'Stacking order: higher is in front. A new card without it is above all others.',
  }),
  rotation: number({ description: 'Degrees, wrapped into -180 to 180.' }),
  section_header: Type.Optional(
    Type.Boolean({ description: 'Whether the card is shown as a full-width heading.' }),
  ),
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

const orAbsent = 'Absent when there is none.'

export const Card = named(
  'Card',
  describeFields(cardAnswer, {
    id: 'Id of the card, unique on its board.',
    kind: `What the card is: ${kinds.join(', ')}, or another kind that only editors make.`,
    title: 'One line of text.',
    body: 'Plain text: of an image its caption, of audio its transcript.',
    html: 'Formatted text, sanitised.',
    url: 'The URL that the card links to.',
    image_key: 'Key of the image that the card shows.',
    alt: 'What the image shows, for those who can’t see it.',
    color: 'The color of the card.',
    file_key: `Key of the file that the card holds. ${orAbsent}`,
    poster_key: `Key of the image that a video card shows before it plays. ${orAbsent}`,
    file_name: `The name that is shown for a pdf or another file. ${orAbsent}`,
    mime: `Media type of the file. ${orAbsent}`,
    ext: `Extension of the file, without the dot. ${orAbsent}`,
    size_bytes: `Size of the file in bytes, as the client gave it. ${orAbsent}`,
    x: 'Left edge in canvas pixels, growing to the right.',
    y: 'Top edge in canvas pixels, growing downwards.',
    w: 'Width in canvas pixels.',
    h: 'Height in canvas pixels.',
    z: 'Stacking order: higher is in front.',
    rotation: 'Degrees, -180 to 180.',
    group_id: 'Id of the group that the card is in. Absent when it is in none.',
    section_header: 'Whether the card is shown as a full-width heading.',
    sub: 'The line under a section heading. Absent when there is none.',
    props: 'Any JSON that was stored with it. Null when there is none. Lists have it with `include=props`.',
    identifiers: 'Its ids in other systems. Lists have them with `include=identifiers`.',
    width: 'Of an image card: width of the stored image in pixels. Null when it is not known.',
    height: 'Of an image card: height of the stored image in pixels. Null when it is not known.',
    bytes: 'Of an image card: size of the stored file in bytes. Null when it is not known.',
    raw: 'With `include=raw`: everything that editors store in the card, in their own form.',
    restore_token: `Of a removed card: send it with \`POST /boards/{id}/cards\` within ${limits.trashDays} days to restore what the API does not show.`,
    created:
      'In the answer to a create with `on_conflict`: true when the card is new, false when it was changed.',
    created_at: 'When it was created. Null until the index has the card.',
    updated_at: 'When it was last changed. Null until the index has the card.',
  }),
  'A card on a board.',
)

export const IndexCard = named(
  'IndexCard',
  Type.Object({
    id: cardId,
    kind: Type.String({ description: 'What the card is.' }),
    title: nullable(Type.String({ description: 'One line of text.' })),
    x: Type.Number({ description: 'Left edge in canvas pixels.' }),
    y: Type.Number({ description: 'Top edge in canvas pixels.' }),
    image_key: nullable(Type.String({ description: 'Key of the image that the card shows.' })),
    identifiers: Type.Optional(identifiers),
    updated_at: updatedAt,
  }),
  'A card as the index has it: its main fields, some seconds behind an open editor.',
)

export const groupParams = Type.Object({
  id: boardId,
  groupId: Type.String({ description: 'Id of the group.' }),
})

export const groupAnswer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  color: nullableText,
  shape: Type.Enum([...groupShapes]),
  outline: Type.Boolean(),
  card_count: Type.Integer(),
  created_at: nullable(timestamp),
})

export const Group = named(
  'Group',
  describeFields(groupAnswer, {
    id: 'Id of the group, unique on its board.',
    name: `Its name, 1 to ${limits.name} characters.`,
    color: 'Its color. Null for the default.',
    shape: '`box` draws a rectangle around its cards, `hug` follows their outline.',
    outline: 'Whether the outline is drawn.',
    card_count: 'How many cards are in it.',
    created_at: 'When it was created. Null when that is not known.',
  }),
  'A group of cards on a board.',
)

export const layout = Type.Enum([...layoutNames], { description: 'How the cards are arranged.' })

export const RemovedCard = named(
  'RemovedCard',
  Type.Object({
    id: cardId,
    deleted: Type.Literal(true, { description: 'Always true.' }),
    updated_at: Type.String({ format: 'date-time', description: 'When it left the board.' }),
  }),
  'In a change feed: a card that was removed from the board or moved to another one.',
)

export const live = Type.Boolean({
  description:
    'True: open editors show the change already. False: it is saved, but an open editor may need a reload.',
})

/** To a deletion. */
export const deletedAnswer = (what: string) =>
  Type.Object({
    deleted: Type.Literal(true, { description: 'Always true.' }),
    id: Type.String({ format: 'uuid', description: `Id of the ${what}.` }),
  })

export const notFound = Type.Array(Type.String(), {
  description: 'Ids of the request that are not on the board.',
})
