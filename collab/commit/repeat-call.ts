/** Repeats a commit's call to the database until its outcome is known. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../platform/log.ts'
import { certainlyRolledBack, errorCode, refusesWrites, type CommitCall } from '../../sql/database.ts'
import type { CommitAnswer } from './commit-call.ts'

export interface RepeatOptions {
  /** `aside`: the call is large, and gets a connection of its own so that other commits don't wait. */
  commit(call: CommitCall, options: { again: boolean; aside: boolean }): Promise<unknown>
  log: Logger
  /** An answer that takes longer counts as lost. */
  answerTimeoutMs: number
}

/**
 * Calls the database. A call whose outcome is unknown is repeated with the same commit id, so that nothing is written
 * twice. Returns null when `isGivenUp` became true.
 *
 * @throws when it is certain that nothing was written
 */
export async function repeatCall(
  call: CommitCall,
  aside: boolean,
  isGivenUp: () => boolean,
  { commit, log, answerTimeoutMs }: RepeatOptions,
): Promise<CommitAnswer | null> {
  for (let attempt = 0; !isGivenUp(); attempt++) {
    try {
      return (await withTimeout(commit(call, { again: attempt > 0, aside }), answerTimeoutMs)) as CommitAnswer
    } catch (error) {
      if (certainlyRolledBack(error) && !isPassing(error, attempt)) throw error
      log.warn(
        { err: error, commitId: call.commitId, attempt },
        'a commit failed or was not answered; repeating it',
      )
      await delay(Math.min(250, 25 * 2 ** attempt))
    }
  }
  return null
}

/**
 * Whether the same call may succeed later. A call that timed out repeatedly may not: its items are tried in smaller
 * commits.
 */
function isPassing(error: unknown, attempt: number): boolean {
  const code = errorCode(error)
  return (transientCodes.has(code) || refusesWrites(error)) && !(code === '57014' && attempt >= maxTimeouts)
}
const maxTimeouts = 2

/** The server rolled back, and the same call can succeed a moment later. */
const transientCodes = new Set([
  '40001',
  '40P01',
  '55P03',
  '57014',
  '53000',
  '53200',
  '53300',
  '53400',
  '25P03',
  '58030',
])

function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
    const settled =
      <Result>(settle: (result: Result) => void) =>
      (result: Result) => {
        clearTimeout(timer)
        settle(result)
      }
    work.then(settled(resolve), settled(reject))
  })
}
