/**
 * What a card is: its kinds, its fields and their bounds. The API's schemas, the reading of what editors wrote and the
 * index all go by this file.
 *
 * - *content*: the fields of a card as the document holds them, clamped. Absent is null.
 * - *card*: content with its id and times, as the API answers it.
 */
import { ServiceError } from './errors.ts'
import { limits } from './limits.ts'

/** The kinds that the API creates. Editors have more (grids, schedules, palettes, shapes …). */
export const kinds = ['note', 'image', 'link', 'doc', 'video', 'audio', 'pdf', 'file'] as const
export type Kind = (typeof kinds)[number]

export const isKind = (kind: string): kind is Kind => kinds.some((known) => known === kind)

/** @param where how the card is named, such as `cards[3].` */
export const unknownKind = (where: string, ...others: string[]) =>
  new ServiceError('bad_request', `${where}kind must be one of: ${[...kinds, ...others].join(', ')}.`)

/** Plain strings and how many characters each holds. `body` is not among them: it is a shared text. */
export const textLimits = {
  title: 300,
  html: 40_000,
  url: 2000,
  image_key: 500,
  file_key: 500,
  poster_key: 500,
  file_name: 300,
  mime: 200,
  ext: 20,
  alt: 300,
  color: 40,
  group_id: 64,
  sub: 300,
} as const
export const bodyLimit = 20_000

export type TextField = keyof typeof textLimits
export const textFields = Object.keys(textLimits) as TextField[]

/** Fields that every card carries, null when empty; the other text fields are left out when empty. */
export const nullableFields = ['title', 'body', 'html', 'url', 'image_key', 'alt', 'color'] as const

/** Those that hold keys of files. */
export const fileFields = ['image_key', 'file_key', 'poster_key'] as const

export const numberFields = ['x', 'y', 'w', 'h', 'z', 'rotation', 'size_bytes'] as const
export type NumberField = (typeof numberFields)[number]

export interface Identifier {
  scope: string
  value: string
}
export type Props = Record<string, unknown>

export type CardContent = Record<TextField, string | null> & {
  kind: string
  body: string | null
  x: number
  y: number
  w: number
  h: number
  z: number
  rotation: number
  size_bytes: number | null
  section_header: boolean
  props: Props | null
  identifiers: Identifier[]
}

/** A write: the fields that were sent, bounded already. Null clears. */
export type CardChange = Partial<CardContent>

export interface CardTimes {
  created_at: string | null
  updated_at: string | null
}

const cardIdPattern = /^[A-Za-z0-9_-]{1,64}$/
export const isCardId = (id: string): boolean => cardIdPattern.test(id)

const clamp = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value))
// `+ 0` turns -0 into 0.
const wrapDegrees = (degrees: number) => {
  const turned = degrees % 360
  return (turned > 180 ? turned - 360 : turned < -180 ? turned + 360 : turned) + 0
}

/** The bounded form of each number. Takes any finite number. */
export const boundNumber: Record<NumberField, (value: number) => number> = {
  x: (value) => clamp(Math.round(value), -limits.coordinate, limits.coordinate) + 0,
  y: (value) => clamp(Math.round(value), -limits.coordinate, limits.coordinate) + 0,
  w: (value) => clamp(value, limits.cardSize.min, limits.cardSize.max),
  h: (value) => clamp(value, limits.cardSize.min, limits.cardSize.max),
  z: (value) => clamp(value, -limits.z, limits.z) + 0,
  rotation: wrapDegrees,
  size_bytes: (value) => clamp(Math.round(value), 0, Number.MAX_SAFE_INTEGER),
}

export const numberDefaults = {
  x: 0,
  y: 0,
  w: limits.cardSize.defaultW,
  h: limits.cardSize.defaultH,
  z: 0,
  rotation: 0,
} as const

/** Text as Postgres and JSON can hold it: no NUL, no half of a surrogate pair, at most `limit` characters. */
export function boundText(text: string, limit: number): string {
  const clean = (text.length > limit * 2 ? text.slice(0, limit * 2) : text)
    .replaceAll('\u0000', '')
    .toWellFormed()
  if (clean.length <= limit) return clean
  const characters = Array.from(clean)
  return characters.length <= limit ? clean : characters.slice(0, limit).join('')
}

/** What `url` may be: nothing that runs as code where it is clicked. */
export function isLinkUrl(url: string): boolean {
  const protocol = URL.parse(url)?.protocol
  return protocol === 'http:' || protocol === 'https:' || protocol === 'mailto:'
}

/**
 * The reason why an object cannot be `props`, or null. What is not JSON (editors can write other values) is a reason too.
 * Bounds: 16 KB serialised, 5 levels, keys of at most 100 characters, no `__proto__`.
 */
export function propsFault(props: unknown): string | null {
  if (!isPlainObject(props)) return 'must be an object or null'
  const fault = nestingFault(props, 1, { left: limits.props.bytes })
  if (fault) return fault
  return Buffer.byteLength(JSON.stringify(props)) > limits.props.bytes ? propsTooLarge : null
}

const propsTooLarge = 'must be at most 16 KB of JSON'
const onlyJson = 'must hold JSON values only'

/** `budget`: bytes that may still come. Each value takes one at least, so that a huge one is not walked to its end. */
function nestingFault(value: Props | unknown[], level: number, budget: { left: number }): string | null {
  if (level > limits.props.depth) return `must be at most ${limits.props.depth} levels deep`
  const keys = Array.isArray(value) ? [] : Object.keys(value)
  for (const key of keys) {
    if (key.length > limits.props.key && Array.from(key).length > limits.props.key)
      return `keys must be at most ${limits.props.key} characters`
    if (key === '__proto__') return 'must not have a key __proto__'
  }
  const inner: unknown[] = Array.isArray(value) ? value : Object.values(value)
  budget.left -= inner.length
  for (const one of inner) {
    if (typeof one === 'string') budget.left -= one.length
    if (budget.left < 0) return propsTooLarge
    if (Array.isArray(one) || isPlainObject(one)) {
      const fault = nestingFault(one, level + 1, budget)
      if (fault) return fault
    } else if (!isJsonScalar(one)) return onlyJson
  }
  return null
}

/** Editors can store what JSON has no word for: big integers, bytes, undefined, NaN. */
const isJsonScalar = (value: unknown) =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)

/** Neither a list nor an instance of a class, as shared types are. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Identifiers as an editor wrote them: what is not one is left out. */
export function boundIdentifiers(value: unknown): Identifier[] {
  if (!Array.isArray(value)) return []
  const identifiers: Identifier[] = []
  for (const entry of value.slice(0, 10 * limits.identifiers.perObject) as unknown[]) {
    if (!isPlainObject(entry) || typeof entry['scope'] !== 'string' || typeof entry['value'] !== 'string')
      continue
    const identifier = {
      scope: boundText(entry['scope'], limits.identifiers.scope),
      value: boundText(entry['value'], limits.identifiers.value),
    }
    if (identifier.scope === '' || identifier.value === '') continue
    identifiers.push(identifier)
    if (identifiers.length === limits.identifiers.perObject) break
  }
  return identifiers
}

const alwaysShown = new Set<string>(nullableFields)

/** The card as the API answers it. `extras` adds what is shown on request only. */
export function presentCard(
  id: string,
  content: CardContent,
  times: CardTimes,
  extras: { props?: boolean; identifiers?: boolean; raw?: unknown } = {},
): Record<string, unknown> {
  const card: Record<string, unknown> = { id, kind: content.kind, title: content.title, body: content.body }
  for (const field of textFields) {
    if (content[field] !== null || alwaysShown.has(field)) card[field] = content[field]
  }
  if (content.size_bytes !== null) card['size_bytes'] = content.size_bytes
  card['x'] = content.x
  card['y'] = content.y
  card['w'] = content.w
  card['h'] = content.h
  card['z'] = content.z
  card['rotation'] = content.rotation
  card['section_header'] = content.section_header
  if (extras.props) card['props'] = content.props
  if (extras.identifiers) card['identifiers'] = content.identifiers
  if (extras.raw !== undefined) card['raw'] = extras.raw
  card['created_at'] = times.created_at
  card['updated_at'] = times.updated_at
  return card
}

/** The identifiers without duplicates, and without other fields of what was sent. */
export function distinctIdentifiers(given: Identifier[]): Identifier[] {
  const byText = new Map(given.map(({ scope, value }) => [JSON.stringify([scope, value]), { scope, value }]))
  return [...byText.values()]
}
