/** Loaded before the service. Removes a component of the service, so that the bench can measure its cost. */
import { TokenLimiter } from '../../api/http/token-limiter.ts'
import { Operation } from '../../sql/operation.ts'

export type Part = 'rate limit' | 'audit'

switch (process.env['BENCH_WITHOUT'] as Part | undefined) {
  case 'rate limit': {
    const unlimited = {
      allowed: true,
      limit: 1,
      remaining: 1,
      reset: 0,
      resetAfter: 0,
      retryAfter: 1,
      retryAtMs: 0,
    }
    TokenLimiter.prototype.take = () => Promise.resolve(unlimited)
    break
  }
  case 'audit':
    // Without an operation a commit records nothing.
    Operation.prototype.onBoard = () => undefined as never
    break
  case undefined:
}
