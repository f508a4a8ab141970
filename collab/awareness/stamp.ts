/**
 * The keys of an awareness state that the service sets: who sent the state, and with which rights. What a client claims
 * under these keys is replaced. A state is kept as the received bytes, so the stamp is appended to them before the
 * closing brace. Only a state that claims one of the keys is encoded again.
 */

/** The account that sends states on a connection. */
export interface Sender {
  id: string
  /** Null when the account has no display name. */
  name: string | null
  /** It came by a guest link, with a name of its own choice. */
  isGuest: boolean
  /** The user of a session, as others see them. Null for other accounts. */
  sessionUser: object | null
  /** A service account, or an application that a person has connected. */
  isAgent: boolean
  readOnly: boolean
}

type Changes = Partial<Pick<Sender, 'name' | 'sessionUser' | 'readOnly'>>

const keys = ['account', 'readOnly', 'agent'] as const

export class Stamp {
  #sender: Sender
  #end: Uint8Array

  constructor(sender: Sender) {
    this.#sender = sender
    this.#end = encode(sender)
  }

  /** Sets the sender's current name and rights, for the states that it sends from now on. */
  update(now: Changes): void {
    if (isSame(now, this.#sender)) return
    this.#sender = { ...this.#sender, ...now }
    this.#end = encode(this.#sender)
  }

  /**
   * Returns a copy of a state with the service's keys.
   *
   * @param json the state in UTF-8
   * @param state the parsed state
   */
  put(json: Uint8Array, state: Record<string, unknown>): Uint8Array {
    const claims = keys.some((key) => Object.hasOwn(state, key))
    const own = claims ? without(state) : json
    const isEmpty = claims ? own.byteLength === '{}'.length : Object.keys(state).length === 0
    const size = own.lastIndexOf(brace)
    const from = isEmpty ? size : size + 1
    const stamped = new Uint8Array(from + this.#end.byteLength)
    stamped.set(own.subarray(0, size))
    stamped[size] = comma
    stamped.set(this.#end, from)
    return stamped
  }
}

const comma = ','.charCodeAt(0)
const brace = '}'.charCodeAt(0)

const isSame = (now: Changes, { name, readOnly, sessionUser }: Sender): boolean =>
  (now.name === undefined || now.name === name) &&
  (now.readOnly === undefined || now.readOnly === readOnly) &&
  (now.sessionUser === undefined ||
    now.sessionUser === sessionUser ||
    JSON.stringify(now.sessionUser) === JSON.stringify(sessionUser))

/** The stamp's keys with the state's closing brace. */
function encode({ id, name, isGuest, sessionUser, readOnly, isAgent }: Sender): Uint8Array {
  const account = {
    ...{ id, name },
    ...(isGuest ? { guest: true } : {}),
    ...(sessionUser ? { session_user: sessionUser } : {}),
  }
  const stamp = { account, readOnly, agent: isAgent }
  return new TextEncoder().encode(JSON.stringify(stamp).slice(1))
}

function without(state: Record<string, unknown>): Buffer {
  const own = Object.entries(state).filter(([key]) => !(keys as readonly string[]).includes(key))
  return Buffer.from(JSON.stringify(Object.fromEntries(own)))
}
