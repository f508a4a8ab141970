/** Example requests and answers. `npm run examples` records them from a test run, with fixed ids and times. */
import { readFileSync } from 'node:fs'

export interface Example {
  path?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  status: number
  /** Absent when the answer is not JSON. */
  answer?: unknown
}

interface Examples {
  /** By operation id. */
  operations: Record<string, Example>
  /** Bodies of deliveries, by event. */
  events: Record<string, unknown>
}

export const readExamples = (): Examples =>
  JSON.parse(readFileSync(new URL('./examples.json', import.meta.url), 'utf8')) as Examples
