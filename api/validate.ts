/** Schemas → functions that hold a value against them, fill in defaults, and say what is wrong in `errors`. */
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { TSchema } from 'typebox'
import { uuidPattern } from './schemas.ts'

// `1e999` parses to Infinity, which is no number of JSON.
const options = { useDefaults: true, removeAdditional: false, strict: false, strictNumbers: true } as const
const converting = withFormats(new Ajv({ ...options, coerceTypes: true }))
const strict = withFormats(new Ajv(options))

function withFormats(ajv: Ajv): Ajv {
  ;(addFormats as unknown as (ajv: Ajv) => void)(ajv)
  // The usual one lets `urn:uuid:` through, which the database does not take.
  return ajv.addFormat('uuid', uuidPattern)
}

/**
 * Queries and paths are text and are converted; a body says its types itself.
 *
 * @param part of a request: `body`, `params`, `querystring`
 */
export const compileSchema = (schema: TSchema, part?: string): ValidateFunction =>
  (part === 'body' ? strict : converting).compile(schema)
