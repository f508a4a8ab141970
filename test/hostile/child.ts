/** A helper process of the hostile run. It receives commands as messages, and answers each. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The commands of a helper, with input and output types. */
export type Commands = Record<string, { takes: unknown; gives: unknown }>

interface Question {
  id: number
  command: string
  takes: unknown
}

type Reply = { id: number; gives: unknown } | { id: number; error: string }

export class Child<Known extends Commands> {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #questions = 0

  /** @param nice run at the lowest priority, so that the helper takes little CPU time from the service */
  constructor(file: URL, { nice = false } = {}) {
    const path = fileURLToPath(file)
    this.#child = nice
      ? fork(path, { execPath: 'nice', execArgv: ['-n', '19', process.execPath] })
      : fork(path)
    this.#child.on('message', (reply: Reply) => {
      const waiting = this.#waiting.get(reply.id)
      if ('error' in reply) waiting?.reject(new Error(reply.error))
      else waiting?.resolve(reply.gives)
    })
    this.#child.once('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`the process of ${path} ended`))
    })
  }

  /** @throws the helper's error, or when the process ends or the command takes too long */
  async do<Name extends keyof Known & string>(
    command: Name,
    takes: Known[Name]['takes'],
    withinMs: number,
  ): Promise<Known[Name]['gives']> {
    const id = (this.#questions += 1)
    const answer = Promise.withResolvers<unknown>()
    const timer = setTimeout(
      () => answer.reject(new TookTooLong(`'${command}' was not done within ${withinMs / 1000} s`)),
      withinMs,
    )
    this.#waiting.set(id, answer)
    try {
      this.#child.send({ id, command, takes } satisfies Question, (error) => {
        if (error) answer.reject(error)
      })
      return (await answer.promise) as Known[Name]['gives']
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(id)
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}

export class TookTooLong extends Error {}

/** Runs in the helper process, which ends with its parent. */
export function serveCommands<Known extends Commands>(work: {
  [Name in keyof Known]: (takes: Known[Name]['takes']) => Promise<Known[Name]['gives']>
}): void {
  process.on('message', ({ id, command, takes }: Question) => {
    void work[command]!(takes as never).then(
      (gives) => process.send!({ id, gives } satisfies Reply),
      (error: Error) => process.send!({ id, error: error.stack ?? String(error) } satisfies Reply),
    )
  })
  process.on('disconnect', () => process.exit())
}
