/**
 * Records which statuses of which operations the tests of a run have seen. Each process writes its own file. After a
 * run of all tests the files are compared with the API description, see global-setup.ts.
 */
import { randomUUID } from 'node:crypto'
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    observedDir: string
  }
}

/**
 * `held`: the answer was compared with the description. `sent`: the service sent this status, but nothing was compared.
 */
export interface Observed {
  how: 'held' | 'sent'
  /** `GET /boards/{id}` */
  operation: string
  status: number
  /** Error code, if the answer is an error. */
  code: string
}

const name = `${randomUUID()}.txt`
const known = new Set<string>()

export function observed({ how, operation, status, code }: Observed): void {
  const line = [how, status, code || '-', operation].join(' ')
  if (known.has(line)) return
  known.add(line)
  appendFileSync(join(inject('observedDir'), name), `${line}\n`)
}

const descriptionName = 'description.json'
let isDescribed = false

export function describedBy(description: object): void {
  if (isDescribed) return
  isDescribed = true
  writeFileSync(join(inject('observedDir'), descriptionName), JSON.stringify(description))
}

export function readObserved(folder: string): { description: Described | null; observed: Observed[] } {
  const names = readdirSync(folder)
  const lines = names
    .filter((one) => one.endsWith('.txt'))
    .flatMap((one) => readFileSync(join(folder, one), 'utf8').split('\n').filter(Boolean))
  return {
    description: names.includes(descriptionName)
      ? (JSON.parse(readFileSync(join(folder, descriptionName), 'utf8')) as Described)
      : null,
    observed: [...new Set(lines)].map((line) => {
      const [how = '', status = '', code = '', ...operation] = line.split(' ')
      return {
        how: how as Observed['how'],
        operation: operation.join(' '),
        status: Number(status),
        code: code === '-' ? '' : code,
      }
    }),
  }
}

export interface Described {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>
}

/** Errors that are the same for all operations. It is enough if the tests see them once. */
const faults = ['500 internal_error', '503 session_unavailable', '503 storage_unavailable']

/** Returns statuses that are described but not seen by any test, and statuses that are seen but not described. */
export function compareObserved(description: Described, observed: Observed[]): string[] {
  const held = observed.filter(({ how }) => how === 'held')
  const seen = new Set(held.map(({ operation, status }) => `${status} ${operation}`))
  const described = Object.entries(description.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { responses }]) =>
      Object.keys(responses).map((status) => ({ status, operation: `${method.toUpperCase()} ${path}` })),
    ),
  )
  const known = new Set(described.map(({ status, operation }) => `${status} ${operation}`))
  return [
    ...described
      .filter(({ status, operation }) => Number(status) < 500 && !seen.has(`${status} ${operation}`))
      .map(({ status, operation }) => `${operation} ${status}: no test has seen it`),
    ...faults
      .filter((fault) => !held.some(({ status, code }) => `${status} ${code}` === fault))
      .map((fault) => `${fault}: no test has seen it of any operation`),
    ...observed
      .filter(({ status, operation }) => !known.has(`${status} ${operation}`))
      .map(({ status, operation }) => `${operation} ${status}: the description does not know it`),
  ]
}
