/** Limits the values of a card's fields: numbers, texts, links, properties, identifiers. */
import { limits } from './limits.ts'

export interface Identifier {
  scope: string
  value: string
}
export type Props = Record<string, unknown>

export const clamp = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value))
// `+ 0` turns -0 into 0.
export const wrapDegrees = (degrees: number) => {
  const turned = degrees % 360
  return (turned > 180 ? turned - 360 : turned < -180 ? turned + 360 : turned) + 0
}

/** Returns a text that Postgres and JSON can store: no NUL, no unpaired surrogate, at most `limit` characters. */
export function boundText(text: string, limit: number): string {
  const clean = (text.length > limit * 2 ? text.slice(0, limit * 2) : text)
    .replaceAll('\u0000', '')
    .toWellFormed()
  if (clean.length <= limit) return clean
  const characters = Array.from(clean)
  return characters.length <= limit ? clean : characters.slice(0, limit).join('')
}

/** Whether a text may be a `url`: an address that doesn't run code when it is clicked. */
export function isLinkUrl(url: string): boolean {
  const protocol = URL.parse(url)?.protocol
  return protocol === 'http:' || protocol === 'https:' || protocol === 'mailto:'
}

/**
 * Returns the reason why a value can't be `props`, or null. The limits are those of `limits.props`; a key `__proto__`
 * is not accepted. A value that is not JSON is a reason, too, since editors can store such values.
 */
export function propsFault(props: unknown): string | null {
  if (!isPlainObject(props)) return 'must be an object or null'
  const fault = nestingFault(props, 1, { left: limits.props.bytes })
  if (fault) return fault
  return Buffer.byteLength(JSON.stringify(props)) > limits.props.bytes ? propsTooLarge : null
}

const propsTooLarge = `must be at most ${limits.props.bytes / 1024} KB of JSON`
const onlyJson = 'must contain JSON values only'

/** `budget`: bytes that are left. Each value costs at least one, so the check of a huge value stops early. */
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

/** Whether a value is a JSON scalar. Editors can also store big integers, bytes, undefined and NaN. */
const isJsonScalar = (value: unknown) =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)

/** Whether a value is a plain object: not a list, and not an instance of a class, as shared types are. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Returns the valid identifiers in a value that an editor stored. Others are left out. */
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

export const identifierKey = ({ scope, value }: Identifier): string => JSON.stringify([scope, value])

/** The identifiers without duplicates and without unknown fields. */
export function distinctIdentifiers(given: Identifier[]): Identifier[] {
  return [
    ...new Map(given.map(({ scope, value }) => [identifierKey({ scope, value }), { scope, value }])).values(),
  ]
}
