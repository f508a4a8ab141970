/**
 * The table of card fields, and everything that follows from it: reading, checking and presenting cards, the content
 * hash, the schemas, and the columns of the index.
 *
 * A new field is one entry. If the index has a column for it, it also needs a migration that adds the column to
 * `card_index` and `commit_row`.
 *
 * - *content*: the fields of a card as the document stores them, clamped.
 * - *card*: content with its id and times, as the API answers it.
 */
import { clamp, wrapDegrees } from './card-values.ts'
import { badRequest } from './errors.ts'
import {
  flag,
  identifiers,
  link,
  number,
  props,
  sharedText,
  size,
  text,
  type FieldType,
} from './field-types.ts'
import { limits } from './limits.ts'

/** The kinds that the API creates. Editors have more (grids, schedules, palettes, shapes …). */
export const kinds = ['note', 'image', 'link', 'doc', 'video', 'audio', 'pdf', 'file'] as const
export type Kind = (typeof kinds)[number]

export const isKind = (kind: string): kind is Kind => kinds.some((known) => known === kind)

/** @param where how the message names the card, such as `cards[3].` */
export const unknownKind = (where: string, ...others: string[]) =>
  badRequest(`${where}kind must be one of: ${[...kinds, ...others].join(', ')}.`)

const kindPattern = /^[A-Za-z0-9_-]{1,40}$/

/** Whether a value is a kind that a card in a document may have. Editors have more kinds than the API creates. */
export const isStoredKind = (kind: unknown): kind is string =>
  typeof kind === 'string' && kindPattern.test(kind)

const cardIdPattern = /^[A-Za-z0-9_-]{1,64}$/
export const isCardId = (id: string): boolean => cardIdPattern.test(id)

interface Rules {
  /** `filled`: answers contain the field only when it is not null. `asked`: lists contain it only on request. */
  shown?: 'filled' | 'asked'
  /** Whether the index has a column for the field, and when lists of the index contain it. */
  index?: 'always' | 'asked' | 'hidden'
  /** `file`: the value is the key of a file. `shape`: layouts need the field. */
  group?: 'file' | 'shape'
  /** Descriptions: `says` in answers, `asks` in requests, `tells` in tools. `asks` and `tells` default to `says`. */
  says: string
  asks?: string
  tells?: string
}

const field = <Type extends { json: unknown }, const Own extends Rules>(
  type: Type,
  rules: Own,
): Type & Own => ({
  ...type,
  ...rules,
})

const kind: FieldType<string, string> = {
  json: { type: 'string' },
  clears: false,
  read: (stored) => (isStoredKind(stored) ? stored : 'note'),
  accept: (given) => given,
}
const title = text(300)
const body = sharedText(20_000)
const fileKey = text(500)

const { cardSize } = limits
// `+ 0` turns -0 into 0.
const coordinate = number(0, (value) => clamp(Math.round(value), -limits.coordinate, limits.coordinate) + 0, {
  minimum: -limits.coordinate,
  maximum: limits.coordinate,
})
const side = (unset: number) => number(unset, (value) => clamp(value, cardSize.min, cardSize.max))
const layer = number(0, (value) => clamp(value, -limits.z, limits.z) + 0, {
  minimum: -limits.z,
  maximum: limits.z,
})

const placedFreely = 'Rounded. Without `x` and `y` a new card gets a free place.'
const sizeRange = `${cardSize.min} to ${cardSize.max}`
const characters = (limit: number) => `${limit.toLocaleString('en')} characters`

/** The fields, in the order in which answers show them. */
export const cardFields = {
  kind: field(kind, {
    index: 'always',
    group: 'shape',
    says: `What the card is: ${kinds.join(', ')}, or another kind that only editors make.`,
    asks: `What the card is: one of ${kinds.join(', ')}. Required on create.`,
    tells: 'What the card shows.',
  }),
  title: field(title, {
    index: 'always',
    says: 'One line of text.',
    asks: 'One line of text. Null clears it, as for every text field.',
    tells: `At most ${characters(title.limit)}.`,
  }),
  body: field(body, {
    index: 'hidden',
    says: 'Plain text. For an image its caption, for audio its transcript.',
    tells: `Plain text, caption or transcript; at most ${characters(body.limit)}.`,
  }),
  html: field(text(40_000), {
    says: 'Formatted text, sanitised.',
    asks: 'Formatted text. Scripts, styles and unknown tags are removed.',
    tells: 'Formatted text of a note or doc.',
  }),
  url: field(link(2000), {
    index: 'hidden',
    says: 'The URL that the card links to.',
    asks: 'An http, https or mailto URL that the card links to.',
    tells: 'Address of a link.',
  }),
  image_key: field(fileKey, {
    index: 'always',
    group: 'file',
    says: 'Key of the image that the card shows.',
    asks: 'Key of the uploaded image that the card shows.',
    tells: 'File key of an image, or of the first page of a pdf.',
  }),
  file_key: field(fileKey, {
    shown: 'filled',
    index: 'hidden',
    group: 'file',
    says: 'Key of the file that the card holds.',
    asks: 'Key of the uploaded file that the card holds.',
    tells: 'File key of any other file.',
  }),
  poster_key: field(fileKey, {
    shown: 'filled',
    index: 'hidden',
    group: 'file',
    says: 'Key of the image that a video card shows before it plays.',
    asks: 'Key of the uploaded image that a video card shows before it plays.',
    tells: 'File key of the still of a video.',
  }),
  file_name: field(text(300), {
    shown: 'filled',
    says: 'The name that is shown for a pdf or another file.',
    tells: 'Shown name of the file.',
  }),
  mime: field(text(200), {
    shown: 'filled',
    says: 'Media type of the file.',
    asks: 'Media type of the file, such as `video/mp4`.',
    tells: 'Its media type.',
  }),
  ext: field(text(20), {
    shown: 'filled',
    says: 'Extension of the file, without the dot.',
    tells: 'Its name extension.',
  }),
  alt: field(text(300), {
    says: 'What the image shows, for people who can’t see it.',
    tells: 'Describes an image.',
  }),
  color: field(text(40), {
    says: 'The color of the card.',
    asks: 'The color of the card, as editors write it, such as `#ffd966`.',
    tells: 'Such as #ffd966.',
  }),
  group_id: field(text(64), {
    shown: 'filled',
    index: 'hidden',
    group: 'shape',
    says: 'Id of the group that the card is in.',
    asks: 'Id of the group that the card is in. Null takes it out.',
    tells: 'Id of its group.',
  }),
  sub: field(text(300), {
    shown: 'filled',
    group: 'shape',
    says: 'The line under a section heading.',
    tells: 'Line below the heading.',
  }),
  size_bytes: field(size, {
    shown: 'filled',
    says: 'Size of the file in bytes, as the client gave it.',
    asks: 'Size of the file in bytes, rounded.',
    tells: 'Its size in bytes.',
  }),
  x: field(coordinate, {
    index: 'always',
    group: 'shape',
    says: 'Left edge in canvas pixels, growing to the right.',
    asks: `Left edge in canvas pixels, growing to the right. ${placedFreely}`,
    tells: 'Left edge in pixels; grows to the right.',
  }),
  y: field(coordinate, {
    index: 'always',
    group: 'shape',
    says: 'Top edge in canvas pixels, growing downwards.',
    asks: `Top edge in canvas pixels, growing downwards. ${placedFreely}`,
    tells: 'Top edge in pixels; grows downwards.',
  }),
  w: field(side(cardSize.defaultW), {
    index: 'hidden',
    group: 'shape',
    says: 'Width in canvas pixels.',
    asks: `Width in canvas pixels, clamped to ${sizeRange}. ${cardSize.defaultW} on create when absent.`,
    tells: `Width in pixels, ${sizeRange}.`,
  }),
  h: field(side(cardSize.defaultH), {
    index: 'hidden',
    group: 'shape',
    says: 'Height in canvas pixels.',
    asks: `Height in canvas pixels, clamped to ${sizeRange}. ${cardSize.defaultH} on create when absent.`,
    tells: `Height in pixels, ${sizeRange}.`,
  }),
  z: field(layer, {
    index: 'hidden',
    says: 'Stacking order: higher is in front.',
    asks: 'Stacking order: higher is in front. A new card without it is above all others.',
    tells: 'Higher is in front.',
  }),
  rotation: field(number(0, wrapDegrees), {
    index: 'hidden',
    group: 'shape',
    says: 'Degrees, -180 to 180.',
    asks: 'Degrees, wrapped into -180 to 180.',
    tells: 'Degrees clockwise.',
  }),
  section_header: field(flag, {
    group: 'shape',
    says: 'Whether the card is shown as a full-width heading.',
    tells: 'Shown as a wide heading.',
  }),
  props: field(props, {
    shown: 'asked',
    says: 'Any JSON stored with the card, or null. Lists contain it with `include=props`.',
  }),
  identifiers: field(identifiers, {
    shown: 'asked',
    index: 'asked',
    says: 'The card’s ids in other systems. Lists contain them with `include=identifiers`.',
  }),
}

// ---- what follows from the table

type Table = typeof cardFields
export type FieldName = keyof Table
/** The names of the fields that have this rule. */
type NamesWith<Rule extends Partial<Rules>> = {
  [Name in FieldName]: Table[Name] extends Rule ? Name : never
}[FieldName]

export type CardContent = { [Name in FieldName]: ReturnType<Table[Name]['read']> }

/** A change of a card: the fields that were sent, with bounded values. Null clears a field. */
export type CardChange = Partial<CardContent>

/** The fields of a request, as its schema accepts them. */
export type CardInput = { [Name in FieldName]?: Parameters<Table[Name]['accept']>[0] }

/** The fields that decide where a card can be placed. */
export type CardShape = Pick<CardContent, NamesWith<{ group: 'shape' }>>

/** The columns of the index that store fields. */
export type IndexColumns = Pick<CardContent, NamesWith<{ index: 'always' | 'asked' | 'hidden' }>>
/** The columns that lists of the index show. */
export type IndexedFields = Pick<CardContent, NamesWith<{ index: 'always' }>> &
  Partial<Pick<CardContent, NamesWith<{ index: 'asked' }>>>

/** The fields of a card as the API answers them. */
export type ShownFields = Omit<CardContent, NamesWith<{ shown: 'filled' | 'asked' }>> & {
  [Name in NamesWith<{ shown: 'filled' }>]?: NonNullable<CardContent[Name]>
} & Partial<Pick<CardContent, NamesWith<{ shown: 'asked' }>>>

/** Any entry of the table. */
export interface CardField extends FieldType<unknown, never>, Rules {}

export const fieldEntries: readonly (readonly [name: FieldName, field: CardField])[] = Object.entries(
  cardFields,
) as [FieldName, CardField][]

export const isFieldName = (key: string): key is FieldName => Object.hasOwn(cardFields, key)

const namesWith = <Rule extends keyof Rules, Value extends Rules[Rule]>(rule: Rule, ...values: Value[]) =>
  fieldEntries
    .filter(([, field]) => values.some((value: unknown) => field[rule] === value))
    .map(([name]) => name) as NamesWith<Record<Rule, Value>>[]

export const fileFields = namesWith('group', 'file')
export const shapeFields = namesWith('group', 'shape')
export const indexColumns = namesWith('index', 'always', 'asked', 'hidden')
export const indexedFields = namesWith('index', 'always')

/**
 * Returns an object with these keys, to be copied and then filled. V8 keeps an object that gets more than a dozen keys one
 * by one as a hash table: encoding it as JSON takes four times as long. One that the JSON parser made, or a copy of it, is
 * not.
 */
const template = <Shape extends object>(values: object): Readonly<Shape> =>
  JSON.parse(JSON.stringify(values)) as Shape

/** The content of a card without any fields. */
export const emptyContent = template<CardContent>(
  Object.fromEntries(fieldEntries.map(([name, field]) => [name, field.read(undefined)])),
)

/**
 * Reads a card's content.
 *
 * @param valueOf returns the stored value of a field
 */
export function readFields(valueOf: (name: FieldName) => unknown): CardContent {
  const content: Record<FieldName, unknown> = { ...emptyContent }
  for (const [name, field] of fieldEntries) content[name] = field.read(valueOf(name))
  return content as CardContent
}

type AskedField = NamesWith<{ shown: 'asked' }>

export interface CardTimes {
  created_at: string | null
  updated_at: string | null
}

/** A card as it was read from a document, or as a write leaves it. */
export interface VersionedCard {
  id: string
  content: CardContent
  version: string
}

/** The card as the API answers it. `extras` adds fields that are shown only on request. */
export function presentCard(
  { id, content, version }: VersionedCard,
  times: CardTimes,
  extras: Partial<Record<AskedField, boolean>> & { raw?: unknown } = {},
): Record<string, unknown> {
  const hasRaw = extras.raw !== undefined
  const names: FieldName[] = []
  let shape = hasRaw ? 1 : 0
  for (const [at, [name, { shown }]] of fieldEntries.entries()) {
    if (shown === 'filled' ? content[name] === null : shown === 'asked' && !extras[name as AskedField])
      continue
    names.push(name)
    shape += 2 << at
  }
  const card: Record<string, unknown> = { ...shownTemplate(shape, names, hasRaw) }
  card['id'] = id
  for (const name of names) card[name] = content[name]
  if (hasRaw) card['raw'] = extras.raw
  card['version'] = version
  card['created_at'] = times.created_at
  card['updated_at'] = times.updated_at
  return card
}

/** By shape: a bit for each key. */
const shownTemplates = new Map<number, Readonly<Record<string, unknown>>>()

function shownTemplate(
  shape: number,
  names: FieldName[],
  hasRaw: boolean,
): Readonly<Record<string, unknown>> {
  return shownTemplates.getOrInsertComputed(shape, () => {
    const keys = ['id', ...names, ...(hasRaw ? ['raw'] : []), 'version', 'created_at', 'updated_at']
    return template(Object.fromEntries(keys.map((key) => [key, null])))
  })
}
