/** Loaded before the service, takes a part of it out, so that the bench can tell what the part costs. */
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
    // What a commit then records is nothing.
    Operation.prototype.onBoard = () => undefined as never
    break
  case undefined:
}
