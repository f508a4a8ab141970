/**
 * Answers many questions with few queries. One query runs at a time and answers all questions that arrived before it.
 * So a thousand equal or similar questions do not use up the connections that other work needs. A question is never
 * answered by a query that began before it, because the answer may have changed since then.
 */
import { LoopTurn } from './loop-turn.ts'

export interface QueryBatchOptions<Question, Answer> {
  /** Returns the answers, in the order of the questions. */
  query(questions: Question[]): Promise<Answer[]>
  /** Equal questions have the same key and are asked once. */
  keyOf(question: Question): string
  /** Each account has a share of a query. The rest of its questions wait behind those of all other accounts. */
  accountOf?(question: Question): string
  /** Most different questions of one account in one query. */
  perAccount?: number
}

interface Asked<Question, Answer> {
  question: Question
  waiting: PromiseWithResolvers<Answer>[]
}

/** Callers that go on in one turn of the loop. A join costs up to a tenth of a millisecond. */
const perTurn = 20

export class QueryBatch<Question, Answer> {
  readonly #options: Required<QueryBatchOptions<Question, Answer>>
  /** Questions that no query has taken yet, by account and key. */
  readonly #waiting = new Map<string, Map<string, Asked<Question, Answer>>>()
  #isRunning = false

  constructor(options: QueryBatchOptions<Question, Answer>) {
    this.#options = { accountOf: () => '', perAccount: 50, ...options }
  }

  /** @throws as `query` does, when it fails */
  ask(question: Question): Promise<Answer> {
    const { accountOf, keyOf } = this.#options
    const ofAccount = this.#waiting.getOrInsertComputed(accountOf(question), () => new Map())
    const asked = ofAccount.getOrInsertComputed(keyOf(question), () => ({ question, waiting: [] }))
    const answer = Promise.withResolvers<Answer>()
    asked.waiting.push(answer)
    if (!this.#isRunning) void this.#run()
    return answer.promise
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.size > 0) {
      const asked = this.#take()
      try {
        const answers = await this.#options.query(asked.map(({ question }) => question))
        await release(asked, (one, at) => one.resolve(answers[at]!))
      } catch (error) {
        await release(asked, (one) => one.reject(error))
      }
    }
    this.#isRunning = false
  }

  #take(): Asked<Question, Answer>[] {
    const taken: Asked<Question, Answer>[] = []
    for (const [account, waiting] of this.#waiting) {
      for (const [key, asked] of waiting.entries().take(this.#options.perAccount)) {
        waiting.delete(key)
        taken.push(asked)
      }
      if (waiting.size === 0) this.#waiting.delete(account)
    }
    return taken
  }
}

/** Settles all that wait, a few in each turn of the loop. */
async function release<Question, Answer>(
  asked: Asked<Question, Answer>[],
  settle: (one: PromiseWithResolvers<Answer>, at: number) => void,
): Promise<void> {
  const turn = new LoopTurn()
  let released = 0
  for (const [at, { waiting }] of asked.entries())
    for (const one of waiting) {
      settle(one, at)
      if (++released % perTurn === 0) await turn.next()
    }
}
