/** The types of a card's fields: how values are read, checked and described. card.ts has the table of fields. */
import {
  boundIdentifiers,
  boundText,
  clamp,
  distinctIdentifiers,
  isLinkUrl,
  propsFault,
  type Identifier,
  type Props,
} from './card-values.ts'

/** @typeParam Given the type of a request's value */
export interface FieldType<Value, Given> {
  /** JSON Schema of a value other than null. `props` and `identifiers` name schemas that boards use, too. */
  json: JsonType | 'props' | 'identifiers'
  clears: boolean
  /** The value for a card without the field. When absent, every card counts as having the field. */
  unset?: Value
  /** Reads a stored value and bounds it. A value of the wrong type reads as for a card without the field. */
  read(stored: unknown): Value
  accept(given: Given): Value
  /** Returns why a request's value is refused, as a text that follows the field's name; null when it is accepted. */
  fault?(given: Given): string | null
}

export interface JsonType {
  readonly type: 'string' | 'number' | 'boolean'
  readonly format?: 'date' | 'date-time'
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
}

interface TextType extends FieldType<string | null, string | null> {
  /** Largest number of characters. */
  limit: number
}

/** A text. An empty one in a request clears the field. */
export const text = (limit: number): TextType => ({
  limit,
  json: { type: 'string', maxLength: limit },
  clears: true,
  unset: null,
  read: (stored) => (typeof stored === 'string' ? boundText(stored, limit) : null),
  accept: (given) => given || null,
})

/** The content of a shared text; an empty one reads as null. */
export const sharedText = (limit: number): TextType => ({
  ...text(limit),
  read: (words) => (typeof words === 'string' ? boundText(words, limit) || null : null),
})

export const link = (limit: number): TextType => ({
  ...text(limit),
  read(stored) {
    const url = typeof stored === 'string' ? boundText(stored, limit) : null
    return url !== null && isLinkUrl(url) ? url : null
  },
  fault: (given) => (!given || isLinkUrl(given) ? null : ' must be an http, https or mailto URL'),
})

/**
 * A number.
 *
 * @param bound maps any finite number into the allowed range
 */
export const number = (
  unset: number,
  bound: (value: number) => number,
  range: Pick<JsonType, 'minimum' | 'maximum'> = {},
): FieldType<number, number> => ({
  json: { type: 'number', ...range },
  clears: false,
  unset,
  read: (stored) => (isNumber(stored) ? bound(stored) : unset),
  accept: bound,
})

/** A whole number of bytes, or null. */
export const size: FieldType<number | null, number | null> = {
  json: { type: 'number', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  clears: true,
  unset: null,
  read: (stored) => (isNumber(stored) ? boundSize(stored) : null),
  accept: (given) => (given === null ? null : boundSize(given)),
}
const boundSize = (value: number) => clamp(Math.round(value), 0, Number.MAX_SAFE_INTEGER)

const isNumber = (stored: unknown): stored is number => typeof stored === 'number' && Number.isFinite(stored)

export const flag: FieldType<boolean, boolean> = {
  json: { type: 'boolean' },
  clears: false,
  unset: false,
  read: (stored) => stored === true,
  accept: (given) => given,
}

export const props: FieldType<Props | null, object | null> = {
  json: 'props',
  clears: true,
  unset: null,
  read: (stored) => (propsFault(stored) === null ? (stored as Props) : null),
  accept: (given) => given as Props | null,
  fault(given) {
    const fault = given === null ? null : propsFault(given)
    return fault && `: ${fault}`
  },
}

/** Identifiers. Null in a request clears them. A card without any has an empty list. */
export const identifiers: FieldType<Identifier[], Identifier[] | null> = {
  json: 'identifiers',
  clears: true,
  read: boundIdentifiers,
  accept: (given) => distinctIdentifiers(given ?? []),
}
