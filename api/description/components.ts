/** Schemas of the API description: named ones are in `components.schemas`, and other schemas refer to them. */

type Json = Record<string, unknown>

/** Keywords that hold a schema, a list of schemas, or schemas by name. */
const single = ['items', 'additionalProperties', 'not']
const lists = ['anyOf', 'allOf', 'oneOf']
const maps = ['properties', 'patternProperties']

export class Components {
  readonly #schemas = new Map<string, Json>()

  /** The named schemas by name, sorted. */
  get schemas(): Record<string, Json> {
    return Object.fromEntries([...this.#schemas].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  /**
   * The schema with references in place of named schemas.
   *
   * @throws Error when two different schemas have the same name
   */
  refer(schema: object): Json {
    const { title, ...described } = withType(this.#inner(schema as Json))
    if (typeof title !== 'string') return withNull(described)
    const known = this.#schemas.get(title)
    if (known && JSON.stringify(known) !== JSON.stringify(described))
      throw new Error(`Two different schemas have the name ${title}.`)
    this.#schemas.set(title, described)
    return { $ref: `#/components/schemas/${title}` }
  }

  #inner(schema: Json): Json {
    const isSchema = (value: unknown): value is Json => typeof value === 'object' && value !== null
    return Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => {
        if (single.includes(keyword) && isSchema(value)) return [keyword, this.refer(value)]
        if (lists.includes(keyword)) return [keyword, (value as Json[]).map((one) => this.refer(one))]
        if (maps.includes(keyword))
          return [
            keyword,
            Object.fromEntries(
              Object.entries(value as Json).map(([name, one]) => [name, this.refer(one as Json)]),
            ),
          ]
        return [keyword, value]
      }),
    )
  }
}

/** Adds `type: string` to an enum of strings: generators of clients need it. */
const withType = (schema: Json): Json =>
  Array.isArray(schema['enum']) && schema['enum'].every((one) => typeof one === 'string')
    ? { type: 'string', ...schema }
    : schema

/** Turns `anyOf` of a plain type and null into one schema with both types. */
function withNull(schema: Json): Json {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema
  const [value, none] = anyOf as [Json, Json]
  if (
    none['type'] !== 'null' ||
    typeof value['type'] !== 'string' ||
    value['enum'] ||
    value['const'] !== undefined
  )
    return schema
  return { ...value, ...rest, type: [value['type'], 'null'] }
}
