/** Compiles schemas to validators, which fill in defaults and set `errors`. */
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { TSchema } from 'typebox'
import { uuidPattern } from './schemas.ts'

// strictNumbers: `1e999` parses to Infinity, which is not a JSON number.
const ajv = new Ajv({ useDefaults: true, removeAdditional: false, strict: false, strictNumbers: true })
;(addFormats as unknown as (ajv: Ajv) => void)(ajv)
// The format of ajv-formats accepts `urn:uuid:`, which PostgreSQL refuses.
ajv.addFormat('uuid', uuidPattern)

/**
 * Compiles a schema. In a query or path all values are text: where an integer is expected, decimal digits become a number.
 * Other text stays text and is refused: `1e2`, `0x10`, ` 10`, `Infinity`.
 *
 * @param part the part of the request: `body`, `params`, `querystring`
 */
export function compileSchema(schema: TSchema, part?: string): ValidateFunction {
  const validate = ajv.compile(schema)
  const integers = part === 'body' ? [] : integersOf(schema)
  if (integers.length === 0) return validate
  const convert = (text: Record<string, unknown>) => {
    for (const name of integers) {
      const value = text[name]
      if (typeof value === 'string' && decimal.test(value)) text[name] = Number(value) + 0 // no -0
    }
  }
  const converting = (text: Record<string, unknown>): boolean => {
    convert(text)
    const isValid = validate(text)
    Object.assign(converting, { errors: validate.errors })
    return isValid
  }
  return converting as unknown as ValidateFunction
}

const decimal = /^-?\d{1,300}$/

const integersOf = (schema: TSchema): string[] =>
  Object.entries((schema as { properties?: Record<string, { type?: string }> }).properties ?? {})
    .filter(([, { type }]) => type === 'integer')
    .map(([name]) => name)
