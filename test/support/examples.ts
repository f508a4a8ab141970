/** Records requests and answers for the API description. Values that differ in each run are replaced. */
import { createHash } from 'node:crypto'
import { operationId } from '../../api/description/operation.ts'
import type { Example } from '../../api/description/examples.ts'
import { fileKeysIn } from '../../core/file.ts'
import type { TestUser } from './service.ts'

export interface Sent {
  path?: Record<string, string>
  query?: Record<string, string | number>
  body?: unknown
  headers?: Record<string, string>
}

export class Recorder {
  readonly operations: Record<string, Example> = {}
  /** Texts and their replacements. */
  readonly replaced = new Map<string, string>()

  /**
   * Sends a request and records it with its answer.
   *
   * @param operation such as `GET /boards/:id`
   * @returns the answer's body
   */
  async send<Body = any>(user: TestUser, operation: string, sent: Sent = {}): Promise<Body> {
    const [method = '', template = ''] = operation.split(' ')
    const { path = {}, query, body, headers } = sent
    const filled = template.replace(/:(\w+)/g, (_, name: string) => path[name]!)
    const search = query ? `?${new URLSearchParams(query as Record<string, string>).toString()}` : ''
    const answer = await user.api.send<Body>(method, filled + search, body, headers)
    if (answer.status >= 300) throw new Error(`${operation}: ${answer.text}`)
    const isJson = answer.headers.get('content-type')?.includes('json') ?? false
    this.keep(operation, {
      ...sent,
      status: answer.status,
      ...(isJson ? { answer: answer.body } : {}),
    })
    return answer.body
  }

  keep(operation: string, { path, query, body, status, answer }: Example): void {
    const [method = '', template = ''] = operation.split(' ')
    this.operations[operationId({ method: method as 'GET', path: template })] = {
      path,
      query,
      body,
      status,
      answer,
    }
  }

  /**
   * Returns JSON that is the same in every run. Ids and versions are replaced by the order in which they occur, and
   * times by one time.
   */
  text(events: Record<string, unknown>): string {
    const operations = Object.fromEntries(
      Object.entries(this.operations).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    )
    let text = JSON.stringify({ operations, events }, fixed, 2)
    const longestFirst = [...this.replaced].toSorted(([a], [b]) => b.length - a.length)
    for (const [was, shown] of longestFirst) text = text.replaceAll(was, shown)
    text = text
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '2026-03-02T09:30:00.000Z')
      .replace(fileKeysIn, numbered(fileKeyOf))
      .replace(uuids, numbered(uuidNumbered))
      .replace(versions, numbered(versionOf))
    for (const [n, id] of [...cardIds(text)].entries())
      text = text.replaceAll(id, digest(`card ${n}`, 'base64url').slice(0, 16))
    return `${text}\n`
  }
}

const fileKeyOf = (n: number, key: string) =>
  `f${digest(`file ${n}`, 'base64url').slice(0, 24)}${/\..*/.exec(key)?.[0] ?? ''}`
const versions = /(?<="version": ")[A-Za-z0-9+/]{22}(?=")/g
const versionOf = (n: number) => digest(`version ${n}`, 'base64url').slice(0, 22)
const uuidNumbered = (n: number) => uuidOf(digest(`id ${n}`, 'hex'))

/** Values for fields whose figures or secrets differ in each run, by field name. */
const always: Record<string, unknown> = {
  reset: 1_772_447_400,
  remaining: 998,
  used: 18_204,
  history: 2_310,
  duration_ms: 41,
  ip: '203.0.113.7',
  access_token: 'cork_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ',
  prefix: 'cork_01234',
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
  request_id: 'req-3f',
  email: 'anna@example.com',
  client_id: 2_913_640_571,
}

function fixed(name: string, value: unknown): unknown {
  return typeof value === typeof always[name] ? always[name] : value
}

const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const digest = (text: string, encoding: 'hex' | 'base64url') =>
  createHash('sha256').update(text).digest(encoding)
const uuidOf = (hex: string) =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`

/** Numbers the distinct texts in order, and replaces each text by a function of its number. */
function numbered(made: (n: number, text: string) => string): (text: string) => string {
  const seen = new Map<string, string>()
  return (text) => {
    if (!seen.has(text)) seen.set(text, made(seen.size, text))
    return seen.get(text)!
  }
}

/** Matches ids of cards and groups, which are 12 random bytes. */
const cardIds = (text: string) =>
  new Set([...text.matchAll(/"id": "([A-Za-z0-9_-]{16})"/g)].map(([, id]) => id!))
