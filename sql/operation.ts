/**
 * The record that a request stores in each of its transactions: an audit entry, and its idempotency key with the ids of
 * the objects it made. The operation travels in an AsyncLocalStorage, where `asUser` and the commit queue read it. So
 * no write can forget its record. See functions/operations.sql.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { encodeMade, type Made, type SealedNote } from './made.ts'

/** Objects of one type that a request wrote. Without any, the audit entry names the object in the path. */
export interface Resources {
  type: string
  /** Each id gets an audit entry. */
  ids: (string | null)[]
  /** The board of the objects. */
  board?: string | null
  workspace?: string | null
}

export interface OperationKey {
  /** SHA-256 of account, method, path and key, in hexadecimal. */
  id: string
  /** SHA-256 of the request, in hexadecimal. */
  fingerprint: string
  /** If another attempt holds the key, the transaction fails with `CB409`. */
  attempt: string
  created_at: string
  /** Encrypts text that is stored with the key, because it may be an answer with secrets. */
  seal(text: string): string
}

export interface OperationDetails {
  action: string
  display_name: string | null
  /** Null when the user is signed in with a session. */
  token_id: string | null
  service_account_id: string | null
  client_id: string | null
  method: string
  /** Path without the query string. */
  path: string
  status: number
  request_id: string
  ip: string
  /** The trace of the request, which its events get. See core/trace.ts. */
  trace: string | null
  /** The objects that the path names. */
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

  get trace(): string | null {
    return this.#details.trace
  }

  /** Adds objects to the audit entry. Call it before the end of the transaction that writes them. */
  concerns(resources: Resources): void {
    this.#resources.push(resources)
  }

  /** Adds objects that this transaction makes, in order. They are stored with the idempotency key. */
  made(made: Made[]): void {
    if (this.#details.key) this.#result.push(...made)
  }

  /** Stores the answer, known before the transaction ends. If the answer is lost, a repeated request gets this one. */
  answers(body: unknown, status = 200): void {
    this.#result.push(...this.draft(body, status))
  }

  /** Returns the stored form of the answer, as `made` takes it, for a transaction of another part of the service. */
  draft(body: unknown, status = 200): Made[] {
    return this.remembered('answer', { status, body })
  }

  /** Returns the stored form of a value from which a repeated request continues. Empty when the request has no key. */
  remembered(type: SealedNote['type'], value: unknown): Made[] {
    const { key } = this.#details
    return key ? [{ type, sealed: key.seal(JSON.stringify(value)) }] : []
  }

  /** Returns a separate operation for one of several transactions of a request that run at the same time. */
  part(): Operation {
    const part = new Operation(this.#details)
    part.#recorded = true
    return part
  }

  /** Returns the record for the commit of a board's document. */
  onBoard(): object {
    const { named, ...details } = this.#details
    return { ...details, resources: [named.type === 'card' || named.type === 'group' ? named : boardOnly] }
  }

  /** Returns the record for a transaction. Null when earlier transactions of the request have stored everything. */
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

  /** Call it after the commit of a transaction that stored the record. */
  recorded(): void {
    this.#recorded = true
    this.#resources = []
    this.#result = []
  }
}

/** Names a board without its id. The commit fills in the id. */
const boardOnly: Resources = { type: 'board', ids: [null] }

const current = new AsyncLocalStorage<Operation>()

export const currentOperation = (): Operation | undefined => current.getStore()

export const withOperation = <T>(operation: Operation, work: () => T): T => current.run(operation, work)

/** Runs work without a record, such as preparing or cleaning up. */
export const withoutOperation = <T>(work: () => T): T => current.run(undefined as never, work)
