import type { Bench, Measure, Row } from '../bench.ts'
import { compare, rowOf } from '../compare.ts'
import { formatNumber } from '../table.ts'

/** The most webhooks of a workspace, each with its most concurrent deliveries. */
const webhooks = 20
const perWebhook = 4
const events = { caused: 150, waiting: 300 }
const singles = 100

export const delivery: Measure = {
  name: 'delivery',
  summary: 'deliveries of webhooks against bare POSTs to the same receiver',
  needsCorkboard: true,
  run: async (bench) => [
    ...(await latency(bench)),
    await throughput(bench, 'waiting'),
    await throughput(bench, 'caused'),
  ],
}

async function latency(bench: Bench): Promise<Row[]> {
  const { api, board } = await subject(bench)
  const side = (address: typeof api | null) => () =>
    bench.load.run('deliverOne', { api: address, board, count: singles })
  const name = 'API answer to arrival'
  const compared = await compare(
    bench,
    name,
    { subject: side(api), reference: side(null) },
    ({ p50Ms }) => `p50 ${formatNumber(p50Ms)} ms`,
  )
  const p50 = ({ p50Ms }: { p50Ms: number }) => p50Ms
  const bound = { ...compared, reference: compared.reference.map(() => ({ p50Ms: 25 })) }
  return [
    rowOf(compared, p50, { name, unit: 'ms p50', referenceName: 'bare POST', target: { atMost: 10 } }),
    rowOf(bound, p50, { name, unit: 'ms p50', referenceName: 'the bound', target: { atMost: 1 } }),
  ]
}

/** Of events that wait in the outbox; or of cards, each of them created over the API meanwhile, on both sides. */
async function throughput(bench: Bench, which: keyof typeof events): Promise<Row> {
  const { api, board } = await subject(bench)
  const { url } = await bench.receiver()
  const outbox = which === 'waiting' ? await bench.corkboardDatabaseUrl() : null
  const side = (sender: 'webhooks' | 'loop') => () =>
    bench.load.run('deliverMany', {
      api,
      board,
      sender,
      outbox,
      receiver: url,
      webhooks,
      events: events[which],
      connections: webhooks * perWebhook,
    })
  const name =
    { waiting: 'deliveries', caused: 'deliveries beside their cards' }[which] + `, ${webhooks} webhooks`
  const compared = await compare(
    bench,
    name,
    { subject: side('webhooks'), reference: side('loop') },
    ({ perSecond }) => `${formatNumber(perSecond)}/s`,
  )
  const about = { name, unit: 'deliveries/s', referenceName: 'bare undici loop', target: { atLeast: 0.5 } }
  return rowOf(compared, ({ perSecond }) => perSecond, about)
}

async function subject(bench: Bench) {
  const corkboard = await bench.corkboard()
  const [board] = await corkboard.createBoards(1)
  return { api: corkboard.api, board: board! }
}
