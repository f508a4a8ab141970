/** The words in which schemas are written. A field's word takes its description first, then its bounds. */
import Type, { type TProperties, type TSchema } from 'typebox'

type Bounds<Of extends (...given: never[]) => unknown> = NonNullable<Parameters<Of>[0]>

export const text = (description: string, bounds: Bounds<typeof Type.String> = {}) =>
  Type.String({ ...bounds, description })
export const integer = (description: string, bounds: Bounds<typeof Type.Integer> = {}) =>
  Type.Integer({ ...bounds, description })
export const flag = (description: string) => Type.Boolean({ description })

export const uuid = Type.String({ format: 'uuid' })
export const id = (description: string) => Type.String({ format: 'uuid', description })

export const timestamp = Type.String({ format: 'date-time' })
/** A time in an answer. Handlers answer with a `Date`, which becomes an RFC 3339 time in JSON. */
export const time = (description: string) =>
  Type.Unsafe<Date>({ type: 'string', format: 'date-time', description })

export const oneOf = <const Values extends readonly string[]>(
  values: Values,
  description: string,
  options: { default?: Values[number] } = {},
) => Type.Unsafe<Values[number]>({ enum: [...values], ...options, description })

export const list = <T extends TSchema>(entry: T, description: string, bounds: { maxItems?: number } = {}) =>
  Type.Array(entry, { ...bounds, description })
export const listOf = <T extends TSchema>(entry: T, most: number, description: string) =>
  Type.Array(entry, { minItems: 1, maxItems: most, description })

export const object = <T extends TProperties>(description: string, fields: T) =>
  Type.Object(fields, { description })

export const nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })

/**
 * An object with a name, which is stored in the keyword `title`. The API description contains it once, in
 * `components.schemas`, and refers to it with `$ref`.
 */
export const named = <T extends TProperties>(title: string, description: string, fields: T) =>
  Type.Object(fields, { title, description })

/** A copy of the schema with a description. Keeps the non-enumerable properties of TypeBox. */
export function describeSchema<T extends TSchema>(schema: T, description: string): T {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema)) as T
  return Object.assign(copy, { description })
}
