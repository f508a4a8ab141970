import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { JobKind, JobReply, Jobs } from './jobs.ts'

/** The bench's connection to the load process, which runs as long as the bench so that its code stays warm. */
export class Load {
  private readonly child: ChildProcess

  constructor() {
    this.child = fork(fileURLToPath(new URL('main.ts', import.meta.url)), { detached: true })
  }

  /** Runs one job at a time. Throws the job's error, or when the load process ends. */
  async run<Kind extends JobKind>(kind: Kind, job: Jobs[Kind]['job']): Promise<Jobs[Kind]['result']> {
    const { promise, resolve, reject } = Promise.withResolvers<Jobs[Kind]['result']>()
    const onMessage = (reply: JobReply) =>
      'error' in reply ? reject(new Error(reply.error)) : resolve(reply.result as Jobs[Kind]['result'])
    const onExit = () => reject(new Error('the load process ended'))
    this.child.once('message', onMessage)
    this.child.once('exit', onExit)
    this.child.send({ kind, job })
    try {
      return await promise
    } finally {
      this.child.off('message', onMessage)
      this.child.off('exit', onExit)
    }
  }

  stop(): void {
    this.child.kill()
  }
}
