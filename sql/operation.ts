/**
 * What a request leaves behind of itself in each transaction that does its work: an entry in the audit, and its
 * idempotency key with the ids of what was made. It goes along with the call, so that no write can forget it: `asUser`
 * and the commit queue look for it. See functions/operations.sql.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/** What was written to; without one the entry tells of what the path names. */
export interface Resource {
  type: string
  id: string | null
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
  named: Resource
  key: OperationKey | null
}

export class Operation {
  readonly #details: OperationDetails
  #resources: Resource[] = []
  #result: string[] = []
  #recorded = false

  constructor(details: OperationDetails) {
    this.#details = details
  }

  /** Said before the transaction ends that writes it. */
  concerns(resource: Resource): void {
    this.#resources.push(resource)
  }

  /** The ids of what this transaction makes, in order. */
  made(ids: string[]): void {
    this.#result.push(...ids)
  }

  /** For the commit of a board's document. */
  onBoard(): object {
    const { named, ...details } = this.#details
    return { ...details, resources: [named.type === 'card' || named.type === 'group' ? named : boardOnly] }
  }

  /** For a transaction; null when an earlier one of the same request has told all. */
  inTransaction(): { operation: string; result: string } | null {
    if (this.#recorded && this.#resources.length === 0) return null
    const { named, ...details } = this.#details
    const resources = this.#resources.length > 0 ? this.#resources : [named]
    return { operation: JSON.stringify({ ...details, resources }), result: JSON.stringify(this.#result) }
  }

  /** The transaction is committed. */
  recorded(): void {
    this.#recorded = true
    this.#resources = []
    this.#result = []
  }
}

/** The commit knows which one. */
const boardOnly: Resource = { type: 'board', id: null }

const current = new AsyncLocalStorage<Operation>()

export const currentOperation = (): Operation | undefined => current.getStore()

export const withOperation = <T>(operation: Operation, work: () => T): T => current.run(operation, work)
