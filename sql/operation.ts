/**
 * What a request leaves behind of itself in each transaction that does its work: an entry in the audit, and its
 * idempotency key with the ids of what was made. It goes along with the call, so that no write can forget it: `asUser`
 * and the commit queue look for it. See functions/operations.sql.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { encodeMade, type Made, type SealedNote } from './made.ts'

/** What was written to, things of one type; without any the entry tells of what the path names. */
export interface Resources {
  type: string
  /** An entry for each. */
  ids: (string | null)[]
  /** That they are on. */
  board?: string | null
  workspace?: string | null
}

export interface OperationKey {
  /** SHA-256 in hexadecimal of account, method, path and key; and of the request. */
  id: string
  fingerprint: string
  /** A key that is held by another attempt makes the transaction fail with `CB409`. */
  attempt: string
  created_at: string
  /** Of what is kept with the key and may be an answer: nobody else can read it. */
  seal(text: string): string
}

export interface OperationDetails {
  action: string
  display_name: string | null
  /** Null for who is signed in by a session. */
  token_id: string | null
  service_account_id: string | null
  client_id: string | null
  method: string
  /** Without query. */
  path: string
  status: number
  request_id: string
  ip: string
  /** What the path names. */
  named: Resources
  key: OperationKey | null
}

export class Operation {
  readonly #details: OperationDetails
  #resources: Resources[] = []
  #result: Made[] = []
  #recorded = false

  constructor(details: OperationDetails) {
    this.#details = details
  }

  /** Said before the transaction ends that writes it. */
  concerns(resources: Resources): void {
    this.#resources.push(resources)
  }

  /** What this transaction makes, in order; it is kept with the key. */
  made(made: Made[]): void {
    if (this.#details.key) this.#result.push(...made)
  }

  /** The answer, which is known before the transaction ends; should it be lost, a request that comes again gets this. */
  answers(body: unknown, status = 200): void {
    this.#result.push(...this.draft(body, status))
  }

  /** The same for a transaction that another part of the service makes: as `made`. */
  draft(body: unknown, status = 200): Made[] {
    return this.remembered('answer', { status, body })
  }

  /** Something that the same request, when it comes again, goes on from; nothing when it has no key. */
  remembered(type: SealedNote['type'], value: unknown): Made[] {
    const { key } = this.#details
    return key ? [{ type, sealed: key.seal(JSON.stringify(value)) }] : []
  }

  /** For one of several transactions of a request that run at the same time: what it says is its own. */
  part(): Operation {
    const part = new Operation(this.#details)
    part.#recorded = true
    return part
  }

  /** For the commit of a board's document. */
  onBoard(): object {
    const { named, ...details } = this.#details
    return { ...details, resources: [named.type === 'card' || named.type === 'group' ? named : boardOnly] }
  }

  /** For a transaction; null when an earlier one of the same request has told all. */
  inTransaction(): { operation: string; result: string } | null {
    const isSilent = this.#recorded && this.#resources.length === 0
    if (isSilent && this.#result.length === 0) return null
    const { named, ...details } = this.#details
    const resources = this.#resources.length > 0 || isSilent ? this.#resources : [named]
    return {
      operation: JSON.stringify({ ...details, resources }),
      result: JSON.stringify(this.#result.map(encodeMade)),
    }
  }

  /** The transaction is committed, and had something to tell. */
  recorded(): void {
    this.#recorded = true
    this.#resources = []
    this.#result = []
  }
}

/** The commit knows which one. */
const boardOnly: Resources = { type: 'board', ids: [null] }

const current = new AsyncLocalStorage<Operation>()

export const currentOperation = (): Operation | undefined => current.getStore()

export const withOperation = <T>(operation: Operation, work: () => T): T => current.run(operation, work)

/** What prepares or clears up, and is no write that the request tells of. */
export const withoutOperation = <T>(work: () => T): T => current.run(undefined as never, work)
