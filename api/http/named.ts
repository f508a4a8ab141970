/**
 * Schemas with a name. The API description has each of them once, in `components.schemas`, and refers to it by `$ref`.
 * Validation doesn't: it takes the schema as it is.
 */
import type { TSchema } from 'typebox'

/** The keyword `title` holds the name; it is not used for anything else. */
export const named = <T extends TSchema>(name: string, schema: T, description: string): T =>
  annotated(schema, { title: name, description })

/** The same schema with more annotations. Keeps what TypeBox holds in properties that are not enumerable. */
function annotated<T extends object>(schema: T, annotations: Record<string, unknown>): T {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema)) as T
  return Object.assign(copy, annotations)
}

export const describeSchema = <T extends TSchema>(schema: T, description: string): T =>
  annotated(schema, { description })

/** The same object schema with a description of each of these properties. */
export function describeFields<T extends TSchema & { properties: Record<string, TSchema> }>(
  schema: T,
  descriptions: Partial<Record<keyof T['properties'] & string, string>>,
): T {
  const properties = Object.fromEntries(
    Object.entries(schema.properties).map(([name, field]) => {
      const description = descriptions[name as keyof typeof descriptions]
      return [name, description === undefined ? field : annotated(field, { description })]
    }),
  )
  return annotated(schema, { properties })
}
