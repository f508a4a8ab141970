/** `npm run crash -- --rounds 200`: runs crash rounds and prints their results. */
import { Command, InvalidArgumentError } from 'commander'
import { EventRun } from './event-round.ts'
import { FileRun } from './file-round.ts'
import { fullSpeed } from './load.ts'
import { MoveRun } from './move-round.ts'
import { NodeRun } from './node-round.ts'
import { CrashRun, kills, type Kill } from './round.ts'

const whole = (text: string) => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('Use a whole number.')
  return Number(text)
}

const options = new Command('crash')
  .description('Kills the service and its PostgreSQL under load, and counts what is lost.')
  .option('--rounds <n>', 'number of rounds', whole, 5)
  .option('--minutes <n>', 'stop after the round in which this time ends', whole)
  .option('--seed <n>', 'seed of the random choices', whole, Date.now() % 1_000_000)
  .option('--kill <what...>', `only these kills: ${Object.keys(kills).join(', ')}`)
  .option('--events <n>', 'run n rounds of events and deliveries instead', whole)
  .option('--moves <n>', 'run n rounds of cards that move between boards instead', whole)
  .option(
    '--nodes <n>',
    'run the rounds on n nodes with one database, which are killed, paused, replaced and cut off',
    whole,
  )
  .option('--redis', 'with --nodes: a Redis between the nodes')
  .option('--stock', 'with --nodes: editors connect again as the stock provider does, not at once')
  .option('--pause <seconds>', 'with --nodes: the longest pause', whole, 90)
  .option('--files <n>', 'run n rounds of uploads, completions and reclaims instead', whole)
  .parse()
  .opts<{
    events?: number
    moves?: number
    files?: number
    nodes?: number
    pause: number
    redis?: true
    stock?: true
    rounds: number
    minutes?: number
    seed: number
    kill?: Kill[]
  }>()

const print = (line: string) => process.stdout.write(`${line}\n`)
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
const startedAt = performance.now()
if (options.events !== undefined) process.exit(await eventRounds(options.events))
if (options.moves !== undefined) process.exit(await moveRounds(options.moves))
if (options.files !== undefined) process.exit(await fileRounds(options.files))
if (options.nodes !== undefined) process.exit(await nodeRounds(options.nodes))
const run = await CrashRun.start({ seed: options.seed, ...(options.kill ? { kills: options.kill } : {}) })
process.once('SIGINT', () => void run.end().then(() => process.exit(130)))
let faults = 0
let rounds = 0
try {
  print(`seed ${options.seed}`)
  for (; rounds < options.rounds; rounds++) {
    if (options.minutes && performance.now() - startedAt > options.minutes * 60_000) break
    const report = await run.round()
    faults += report.faults.length
    const { acknowledged, written, unanswered, unavailable } = run.figures
    print(
      `${report.round}: ${report.kill}, editors ${report.editorsStay ? 'stay' : 'leave'}, ready again after ` +
        `${Math.round(report.recoveryMs)} ms; so far ${acknowledged} edits acknowledged, ${written} writes 2xx, ` +
        `${unanswered} unanswered, ${unavailable} × 503, ${faults} faults`,
    )
    for (const fault of report.faults) print(`    ${fault}`)
    if (report.faults.length > 0) print(run.output)
  }
  const left = await run.checkAll()
  faults += left.length
  for (const fault of left) print(fault)
  const { acknowledged, written, slowestMs } = run.figures
  print(
    `${rounds} rounds in ${Math.round((performance.now() - startedAt) / 1000)} s: ${acknowledged} acknowledged edits, ` +
      `${written} writes answered 2xx, slowest answer ${Math.round(slowestMs)} ms, ${faults} lost, doubled or wrong`,
  )
} catch (error) {
  print(run.output)
  throw error
} finally {
  await run.end()
}
process.exitCode = faults > 0 ? 1 : 0

/** @returns the exit code */
async function eventRounds(count: number): Promise<number> {
  const run = await EventRun.start({ seed: options.seed })
  process.once('SIGINT', () => void run.end().then(() => process.exit(130)))
  try {
    print(`seed ${options.seed}`)
    for (let n = 1; n <= count; n++) {
      const kill = await run.round()
      const { changes, received, repeated } = run.figures
      print(`${n}: ${kill}; so far ${changes} changes, ${received} deliveries, ${repeated} repeated`)
    }
    const faults = await run.check()
    for (const fault of faults) print(fault)
    if (faults.length > 0) print(run.output)
    print(
      `${count} rounds in ${Math.round((performance.now() - startedAt) / 1000)} s: ${faults.length} lost, doubled or late`,
    )
    return faults.length > 0 ? 1 : 0
  } finally {
    await run.end()
  }
}

/** @returns the exit code */
async function moveRounds(count: number): Promise<number> {
  const run = await MoveRun.start({ seed: options.seed })
  process.once('SIGINT', () => void run.end().then(() => process.exit(130)))
  let faults = 0
  try {
    print(`seed ${options.seed}`)
    for (let n = 1; n <= count; n++) {
      const found = await run.round()
      faults += found.length
      for (const fault of found) print(`    ${fault}`)
      if (found.length > 0) print(run.output)
      const { answered, unanswered, words } = run.figures
      print(
        `${n}: so far ${answered} moves answered, ${unanswered} unanswered, ${words} words that must exist, ${faults} faults`,
      )
    }
    print(
      `${count} rounds in ${Math.round((performance.now() - startedAt) / 1000)} s: ${faults} lost, doubled or wrong`,
    )
    return faults > 0 ? 1 : 0
  } finally {
    await run.end()
  }
}

/** @returns the exit code */
async function fileRounds(count: number): Promise<number> {
  const run = await FileRun.start({ seed: options.seed })
  process.once('SIGINT', () => void run.end().then(() => process.exit(130)))
  try {
    print(`seed ${options.seed}`)
    const soFar = () =>
      `${run.figures.acknowledged} files acknowledged, ${run.figures.brokenOff} uploads interrupted, ${run.figures.condemned} reclaimed`
    for (let n = 1; n <= count; n++) {
      await run.round()
      print(`${n}: so far ${soFar()}`)
    }
    const faults = await run.check()
    for (const fault of faults) print(fault)
    if (faults.length > 0) print(run.output)
    print(
      `${count} rounds in ${Math.round((performance.now() - startedAt) / 1000)} s: ${soFar()}, ${run.figures.cleared} interrupted uploads removed, ${faults.length} lost, left over or miscounted`,
    )
    return faults.length > 0 ? 1 : 0
  } finally {
    await run.end()
  }
}

/** @returns the exit code */
async function nodeRounds(nodes: number): Promise<number> {
  const { seed, rounds, pause, redis = false, stock = false } = options
  const pace = { ...fullSpeed, stockDelays: stock }
  const run = await NodeRun.start({ seed, nodes, redis, maxPauseMs: pause * 1000, pace })
  process.once('SIGINT', () => void run.end().then(() => process.exit(130)))
  let faults = 0
  try {
    print(`seed ${seed}`)
    for (let n = 1; n <= rounds; n++) {
      const { fault, lastedMs, backMs, faults: found } = await run.round()
      faults += found.length
      for (const text of found) print(`    ${text}`)
      if (found.length > 0) print(run.output)
      const {
        acknowledged,
        written,
        unanswered,
        unavailable,
        canvasesHeld,
        longestAwayMs,
        events,
        repeated,
      } = run.figures
      print(
        `${n}: ${fault}, ${seconds(lastedMs)}, all back ${seconds(backMs)} after it; so far ${acknowledged} edits acknowledged, ${written} writes 2xx, ` +
          `${unanswered} unanswered, ${unavailable} × 503, live held against ${canvasesHeld} canvases, ` +
          `${events} events, ${repeated} repeated, longest away ${seconds(longestAwayMs)}, ${faults} faults`,
      )
    }
    const left = await run.checkAll()
    for (const fault of left) print(fault)
    faults += left.length
    const took = Math.round((performance.now() - startedAt) / 1000)
    print(
      `${rounds} rounds on ${nodes} nodes in ${took} s: ${faults} lost, doubled, drifted, wrong or without event`,
    )
    return faults > 0 ? 1 : 0
  } catch (error) {
    print(run.output)
    throw error
  } finally {
    await run.end()
  }
}
