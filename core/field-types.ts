/** The types of a card's fields: how their values are read, checked and described. The table of fields is in card.ts. */
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

/** @typeParam Given what a request may carry */
export interface FieldType<Value, Given> {
  /** JSON Schema of a value that is not null. The named ones are schemas that boards have, too. */
  json: JsonType | 'props' | 'identifiers'
  /** Whether a request may carry null. */
  clears: boolean
  /** The value of a card without the field. Where there is none, every card is taken to carry the field. */
  unset?: Value
  /** What an editor stored, bounded; where it can't be such a value, that of a card without the field. */
  read(stored: unknown): Value
  /** What a request carries, bounded. */
  accept(given: Given): Value
  /** Why a request may not carry the value; follows the field's name. Null when it may. */
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
  /** Characters. */
  limit: number
}

/** An empty text in a request clears the field. */
export const text = (limit: number): TextType => ({
  limit,
  json: { type: 'string', maxLength: limit },
  clears: true,
  unset: null,
  read: (stored) => (typeof stored === 'string' ? boundText(stored, limit) : null),
  accept: (given) => given || null,
})

/** The words of a shared text; an empty one is null. */
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

/** @param bound takes any finite number */
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

/** Null in a request clears them; a card without any has an empty list. */
export const identifiers: FieldType<Identifier[], Identifier[] | null> = {
  json: 'identifiers',
  clears: true,
  read: boundIdentifiers,
  accept: (given) => distinctIdentifiers(given ?? []),
}
