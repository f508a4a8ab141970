import { openEgress, type EgressOptions } from '../../platform/egress/egress.ts'

/** No name but those that a test gives resolves. */
const names =
  (known: Record<string, string[]>): EgressOptions['resolve'] =>
  (name) =>
    known[name]
      ? Promise.resolve(known[name])
      : Promise.reject(Object.assign(new Error(name), { code: 'ENOTFOUND' }))

export const egressTo = (allow: string[] = [], known: Record<string, string[]> = {}) =>
  openEgress({ allow, resolve: names(known)! })

export const post = (url: string) => ({
  url,
  method: 'POST' as const,
  headers: { 'content-type': 'application/json' },
  body: '{}',
  timeoutMs: 2000,
  maxAnswerBytes: 4096,
})

export const answer = (head: string, body = '') =>
  `HTTP/1.1 ${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
