/** Long work on the main thread, cut into turns of the event loop. */
/** Who waits for a turn, the longest first. Each turn of the loop goes to one of them, however many there are. */
const waiting: (() => void)[] = []

function goOn(): void {
  waiting.shift()!()
  if (waiting.length > 0) setImmediate(goOn)
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(goOn)
  })
}

/** Well under the 50 ms that one synchronous step may take: a step may begin when a turn is nearly over. */
const turnMs = 8

/**
 * One piece of long work. Between its steps: `if (turn.isOver()) await turn.next()`. The test costs about 50 ns, so that
 * steps may be small.
 */
export class LoopTurn {
  #beganAt = performance.now()

  isOver(): boolean {
    return performance.now() - this.#beganAt >= turnMs
  }

  /** Lets everything else run that is ready to. */
  async next(): Promise<void> {
    await nextTurn()
    this.#beganAt = performance.now()
  }
}

/**
 * Work that may be interrupted at each `yield`. What lies between two of them takes a few milliseconds at most. A promise
 * that it yields has to be awaited before it goes on.
 */
export type Steps<Result> = Generator<Promise<unknown> | void, Result, void>

/** The result of work that is not done here. */
export function* awaited<Result>(work: () => Promise<Result>): Steps<Result> {
  let result!: Result
  yield work().then((value) => {
    result = value
  })
  return result
}

/** Does steps of work, and lets others have the loop in between. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  const turn = new LoopTurn()
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (value) await value
    if (turn.isOver()) await turn.next()
  }
}

/** `list.map(map)`, in turns. */
export function mapInTurns<From, To>(
  list: readonly From[],
  map: (from: From, at: number) => To,
): Promise<To[]> {
  return inTurns(
    (function* () {
      const results: To[] = []
      for (const [at, from] of list.entries()) {
        results.push(map(from, at))
        yield
      }
      return results
    })(),
  )
}

/** Does steps of work that await nothing, without an interruption. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
