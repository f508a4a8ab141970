import type { ErrorCode } from './operations.ts'

/**
 * Why a request failed. `code` is what the service answered, or:
 *
 * - `unreachable`: no answer came. For a write it is then unknown whether it was done
 * - `unexpected_answer`: the answer is not one of the service. Something between the client and the service made it
 */
export type FailureCode = ErrorCode | 'unreachable' | 'unexpected_answer'

export class CorkboardError<Code extends FailureCode = FailureCode> extends Error {
  override readonly name = 'CorkboardError'
  readonly code: Code
  /** The HTTP status. 0 when no answer came. */
  readonly status: number
  /** The id of the request in the service's log. Name it when you report a problem. */
  readonly requestId: string | undefined
  /** What the service asks to wait, in seconds. */
  readonly retryAfterSeconds: number | undefined
  /** The whole answer. That of `precondition_failed` has the object as it is now. */
  readonly body: Record<string, unknown>

  constructor(code: Code, message: string, answer: Partial<CorkboardError> = {}, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.status = answer.status ?? 0
    this.requestId = answer.requestId
    this.retryAfterSeconds = answer.retryAfterSeconds
    this.body = answer.body ?? {}
  }
}

/** Whether a request failed with one of these codes. Without codes: whether a request failed at all. */
export function isFailure<Code extends FailureCode>(
  error: unknown,
  ...codes: Code[]
): error is CorkboardError<Code> {
  if (!(error instanceof CorkboardError)) return false
  return codes.length === 0 || codes.some((code) => code === error.code)
}
