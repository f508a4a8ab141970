/**
 * Named schemas. The API description contains each once, in `components.schemas`, and refers to it with `$ref`.
 * Validation uses the schemas directly.
 */
import type { TSchema } from 'typebox'

/** The name is stored in the keyword `title`, which has no other use here. */
export const named = <T extends TSchema>(name: string, schema: T, description: string): T =>
  annotated(schema, { title: name, description })

/** A copy of the schema with more annotations. Keeps the non-enumerable properties of TypeBox. */
function annotated<T extends object>(schema: T, annotations: Record<string, unknown>): T {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema)) as T
  return Object.assign(copy, annotations)
}

export const describeSchema = <T extends TSchema>(schema: T, description: string): T =>
  annotated(schema, { description })

/** A copy of the object schema with descriptions of its properties. */
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
