/** The service does not answer, or a proxy answers for it. It may be there a moment later. */
export class Unreachable extends Error {
  constructor(cause?: unknown) {
    super('The service can’t be reached. Check the connection.', { cause })
  }
}

/** For the failure of a `fetch`: browsers say of a lost connection what only programmers understand. */
export function inWords(error: unknown): never {
  throw error instanceof TypeError ? new Unreachable(error) : error
}
