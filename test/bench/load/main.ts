/** The load process. It receives one job at a time from the bench, and answers with the results. */
import { broadcast } from './broadcast.ts'
import { crowd } from './crowd.ts'
import { cursor } from './cursor.ts'
import { deliverMany, deliverOne } from './deliveries.ts'
import { hold, release } from './hold.ts'
import { fill, join } from './join.ts'
import type { JobKind, JobMessage, JobReply, Jobs } from './jobs.ts'
import { relay } from './relay.ts'
import { alternate, requests } from './requests.ts'
import { screen } from './screen.ts'
import { typing } from './typing.ts'

const work: { [Kind in JobKind]: (job: Jobs[Kind]['job']) => Promise<Jobs[Kind]['result']> } = {
  relay,
  requests,
  alternate,
  screen,
  cursor,
  broadcast,
  fill,
  join,
  crowd,
  typing,
  deliverOne,
  deliverMany,
  hold,
  release,
}

process.on('message', ({ kind, job }: JobMessage) => {
  void (work[kind] as (job: unknown) => Promise<unknown>)(job).then(
    (result) => reply({ result }),
    (error: unknown) => reply({ error: describe(error) }),
  )
})
process.on('disconnect', () => process.exit(1))

function reply(answer: JobReply): void {
  process.send?.(answer)
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause ? `${error.message}: ${describe(error.cause)}` : error.message
}
