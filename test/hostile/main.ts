/** `npm run hostile`: measures how attacks by a free account affect the service and a second tenant. */
import { Command, InvalidArgumentError } from 'commander'
import { points, type Attack } from './attack.ts'
import { attacks } from './attacks.ts'
import { HostileRun, type Figures } from './run.ts'
import { limits, mb, medians, missed, ms } from './verdict.ts'

interface Options {
  runs: number
  short?: true
  only?: string[]
  list?: true
}

const wholeNumber = (text: string) => {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('Use a whole number of at least 1.')
  return Number(text)
}

const named = (name: string, before: string[] = []) => {
  if (!attacks.some((attack) => attack.name === name))
    throw new InvalidArgumentError('No attack has this name. --list shows them.')
  return [...before, name]
}

const options = new Command('hostile')
  .description(
    'Starts a service, attacks it with a free account, and measures how well a second tenant is served. ' +
      'Exits with 1 when a limit is missed.',
  )
  .option('--runs <n>', 'runs of each attack; the result is the median', wholeNumber, 3)
  .option('--short', 'one run with smaller inputs, of the most important attacks or of those in --only')
  .option('--only <name>', 'run only this attack; may be given several times', named)
  .option('--list', 'list the attacks and exit')
  .addHelpText(
    'after',
    `\nLimits: loop delay ${limits.turnMs} ms, the tenant's p99 ${limits.timesQuiet} × quiet or ${limits.p99Ms} ms, memory ${mb(limits.peakBytes)}, ` +
      'the service stays up and restarts, and the attacker gets clear answers.\n' +
      'Example:\n  npm run hostile -- --only marks-index --only yjs-40k --runs 1',
  )
  .parse()
  .opts<Options>()

const print = (line: string) => process.stdout.write(`${line}\n`)
const chosen = attacks.filter(({ name, short }) =>
  options.only ? options.only.includes(name) : short || !options.short,
)
function list(): void {
  for (const { name, point, sends, short } of attacks)
    print(
      `${name.padEnd(22)} ${String(point).padStart(2)} ${points[point]}: ${sends}${short ? ' (also with --short)' : ''}`,
    )
}

/** @returns the exit code */
async function main(): Promise<number> {
  const runs = options.short ? 1 : options.runs
  const run = await HostileRun.start({ short: options.short === true })
  let interrupted = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      interrupted = true
      void run.end().then(() => process.exit(130))
    })
  const failed: [Attack, string[]][] = []
  let restartFaults: string[] = []
  try {
    const quiet = await repeat(runs, () => run.quiet())
    print(header)
    print(row(quiet, []))
    for (const attack of chosen) {
      if (interrupted) break
      const figures = await repeat(runs, () => run.attack(attack)).catch((error: Error) => {
        if (!interrupted) throw error
      })
      if (!figures) break
      const found = missed(attack, figures, quiet, limits)
      print(row(figures, found))
      if (found.length > 0) failed.push([attack, found])
    }
    restartFaults = await run.restart()
  } finally {
    await run.end()
  }
  print('')
  for (const [{ name, sends }, found] of failed) {
    print(`${name}: ${sends}`)
    for (const one of found) print(`    ${one}`)
  }
  for (const fault of restartFaults) print(fault)
  print(`${chosen.length - failed.length} of ${chosen.length} attacks kept all limits`)
  return failed.length + restartFaults.length > 0 ? 1 : 0
}

async function repeat(times: number, measure: () => Promise<Figures>): Promise<Figures> {
  const runs: Figures[] = []
  for (let n = 0; n < times; n++) runs.push(await measure())
  return medians(runs)
}

const columns = (cells: string[]) =>
  cells.map((cell, at) => (at === 0 ? cell.padEnd(22) : at < 8 ? cell.padStart(10) : `  ${cell}`)).join('')

const header = columns([
  'attack',
  'loop',
  'turn CPU',
  'p50',
  'p99',
  'samples',
  'memory',
  'limits',
  'answers to the attacker',
])

function row(
  { attack, longestDelayMs, longestCpuMs, tenant, peakBytes, answers }: Figures,
  found: string[],
): string {
  return columns([
    attack,
    ms(longestDelayMs),
    ms(longestCpuMs),
    ms(tenant.p50Ms),
    ms(tenant.p99Ms),
    String(tenant.samples),
    mb(peakBytes),
    found.length === 0 ? 'kept' : 'missed',
    Object.entries(answers)
      .map(([answer, count]) => `${count} × ${answer}`)
      .join('; '),
  ])
}

if (options.list) list()
else process.exitCode = await main()
