import { rowOf, type Compared } from '../compare.ts'
import type { Bench, CardServer, EditorServer, Measure, Row } from '../bench.ts'
import type { ApiRequest, Throughput } from '../load/jobs.ts'
import { formatNumber } from '../table.ts'
import { describeThroughput } from './describe.ts'

const smallCards = 100
const largeCards = 100_000
const cardsPerRequest = 1_000
const requestsPerRun = 300
const writesBetween = 20_000

type Corkboard = CardServer & EditorServer

/** Cost of operations on a large board, compared with a small board or with the same board before many writes. */
export const boardSize: Measure = {
  name: 'size',
  summary: 'the cost of 100,000 cards, and of 20,000 API writes, on one board',
  needsCorkboard: true,
  async run(bench) {
    const corkboard = await bench.corkboard()
    const [small, large] = (await corkboard.createBoards(2)) as [string, string]
    bench.progress(`filling a board with ${formatNumber(largeCards)} cards`)
    await send(bench, corkboard, createOn(small, smallCards), 1, 1)
    await send(bench, corkboard, createOn(large, cardsPerRequest), largeCards / cardsPerRequest, 1)
    return [
      await compareRequests(bench, corkboard, 'index page', indexPageOf(large), indexPageOf(small)),
      await compareRequests(bench, corkboard, 'POST of one card', createOn(large, 1), createOn(small, 1)),
      await compareEdits(bench, corkboard, large),
    ]
  },
}

async function compareRequests(
  bench: Bench,
  corkboard: Corkboard,
  what: string,
  onLarge: ApiRequest,
  onSmall: ApiRequest,
): Promise<Row> {
  const compared: Compared<number> = { subject: [], reference: [] }
  for (let run = 0; run < bench.runs; run++) {
    const { firstP50Ms, secondP50Ms } = await bench.load.run('alternate', {
      api: corkboard.api,
      first: onLarge,
      second: onSmall,
      count: requestsPerRun,
    })
    compared.subject.push(firstP50Ms)
    compared.reference.push(secondP50Ms)
    bench.progress(
      `${what}, run ${run + 1} of ${bench.runs}: p50 ${formatNumber(firstP50Ms)} ms on the large board, ${formatNumber(secondP50Ms)} ms on the small`,
    )
  }
  return rowOf(compared, (p50Ms) => p50Ms, {
    name: `${what}, board of ${formatNumber(largeCards)}`,
    unit: 'ms p50',
    referenceName: `board of ${smallCards}`,
    target: { atMost: 1.2 },
  })
}

async function compareEdits(bench: Bench, corkboard: Corkboard, board: string): Promise<Row> {
  const reference = await edits(bench, corkboard, board, 'before', 0)
  // An editor stays connected, so that every write is applied to the live document.
  await bench.load.run('hold', { server: corkboard.editors, boards: [board], editorsPerBoard: 1 })
  bench.progress(`writing ${formatNumber(writesBetween)} cards, one by one`)
  await send(bench, corkboard, createOn(board, 1), writesBetween, 32)
  await bench.load.run('release', null)
  const subject = await edits(bench, corkboard, board, 'after', bench.runs)
  return rowOf({ subject, reference }, (run) => run.p50Ms, {
    name: `edit after ${formatNumber(writesBetween)} API writes`,
    unit: 'ms p50',
    referenceName: 'before them',
    target: { atMost: 1.5 },
  })
}

async function edits(
  bench: Bench,
  corkboard: Corkboard,
  board: string,
  when: string,
  firstEditor: number,
): Promise<Throughput[]> {
  const results: Throughput[] = []
  for (let run = 0; run < bench.runs; run++) {
    const result = await bench.load.run('relay', {
      server: corkboard.editors,
      boards: [board],
      editorsPerBoard: 1,
      firstEditor: firstEditor + run,
      done: 'acknowledged',
      inFlight: 1,
      seconds: bench.seconds,
    })
    bench.progress(`edits ${when}, run ${run + 1} of ${bench.runs}: ${describeThroughput(result)}`)
    results.push(result)
  }
  return results
}

async function send(
  bench: Bench,
  corkboard: Corkboard,
  request: ApiRequest,
  count: number,
  connections: number,
): Promise<void> {
  await bench.load.run('requests', { api: corkboard.api, requests: [request], connections, until: { count } })
}

function createOn(board: string, cards: number): ApiRequest {
  return { method: 'POST', path: `/boards/${board}/cards`, cards }
}

function indexPageOf(board: string): ApiRequest {
  return { method: 'GET', path: `/boards/${board}/cards?source=index&limit=100`, cards: 0 }
}
