/**
 * Defines an attack. Glossary: the *attacker* is a free account. The *guest* is a free account that may only read the
 * attacked board. The *tenant* is another free account, which the service must serve meanwhile.
 */
import type { Attempt } from './attempt.ts'

export interface Attack {
  name: string
  /** Number of the kind of work that must be limited; see `points`. */
  point: Point
  /** Description of the requests, for the table. */
  sends: string
  /** Prefixes of answers that are also clear for this attack, in addition to `clearAnswers`. */
  expects: string[]
  /** Included in the short form, which CI runs with smaller inputs. */
  short?: true
  /** What it leaves in the database: the service is killed and started again, and has to be there within 15 s. */
  leavesData?: true
  /** The tenant can't be served meanwhile: it has to be refused in time (503), and served afterwards. */
  stopsTheDatabase?: true
  /** Makes the boards and the inputs. What it returns sends them. Only that is measured. */
  prepare(attempt: Attempt): Promise<() => Promise<unknown>>
}

export const points = {
  1: 'combining marks in the search index',
  2: 'plain size in the search index',
  3: 'integration of Yjs updates',
  4: 'JSON',
  5: 'HTML',
  6: 'merging of texts',
  7: 'awareness, queries and pings',
  8: 'seats',
  9: 'resizing of images',
  10: 'storage that is written and deleted',
  11: 'strangers, slow senders and slow readers',
  12: 'a database that is silent',
  13: 'large boards and many requests',
} as const
export type Point = keyof typeof points

/** Answers that are clear refusals for every attack. */
export const clearAnswers = [
  '400 bad_request',
  '401 invalid_token',
  '402 limit_reached',
  '403 forbidden',
  '404 not_found',
  '409 conflict',
  '409 idempotency_in_progress',
  '413 payload_too_large',
  '415 unsupported_media_type',
  '429 rate_limited, retry-after',
  '503 storage_unavailable, retry-after',
  'close 1009',
  'close 1013 ',
  'close 4400 ',
  'close 4401 ',
  'close 4205 Reset Connection',
  'close 4408 ',
  'denied: ',
]

export const isClear = (attack: Attack, answer: string): boolean =>
  [...clearAnswers, ...attack.expects].some((prefix) => answer.startsWith(prefix))
