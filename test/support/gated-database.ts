/** The real database, with control over calls of the commit path: a test can delay calls or lose their answers. */
import { openDatabase, type CommitCall, type Database } from '../../sql/database.ts'

export interface GatedDatabase extends Database {
  calls: CommitCall[]
  /** From now on commits wait. */
  hold(): void
  release(): void
  /** Functions that the next commits call instead of the database. Each is used once. */
  next(way: (call: CommitCall, commit: (call: CommitCall) => Promise<unknown>) => Promise<unknown>): void
  /** Called after each system transaction has its result, before the caller gets the result. */
  afterSystem: ((result: unknown) => Promise<void>) | null
  /** The same for each statement of a session of its own. */
  afterSession: ((result: unknown) => Promise<void>) | null
}

export function gatedDatabase(url: string): GatedDatabase {
  const database = openDatabase({ url })
  const ways: Parameters<GatedDatabase['next']>[0][] = []
  let gate: { promise: Promise<void>; open(): void } | null = null
  const gated: GatedDatabase = {
    calls: [],
    afterSystem: null,
    afterSession: null,
    asUser: database.asUser,
    callAsSystem: database.callAsSystem,
    search: database.search,
    async asSystem(work, waiting) {
      const result = await database.asSystem(work, waiting)
      await gated.afterSystem?.(result)
      return result
    },
    async commit(call, options) {
      gated.calls.push(call)
      await gate?.promise
      const way = ways.shift()
      return way ? way(call, database.commit) : database.commit(call, options)
    },
    listen: database.listen,
    async openSession() {
      const session = await database.openSession()
      return {
        ...session,
        async run(call) {
          const result = await session.run(call)
          await gated.afterSession?.(result)
          return result
        },
      }
    },
    takesWrites: database.takesWrites,
    onTokensEnded: database.onTokensEnded,
    lock: database.lock,
    close: database.close,
    hold() {
      if (gate) return
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = { promise, open: resolve }
    },
    release() {
      gate?.open()
      gate = null
    },
    next: (way) => void ways.push(way),
  }
  return gated
}

/** The error that a caller gets when the connection breaks. */
export function connectionLost(): Error {
  return Object.assign(new Error('the connection was lost'), { code: 'ECONNRESET' })
}
