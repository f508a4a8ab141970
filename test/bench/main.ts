/** `npm run bench`: compares Corkboard with its peers, in one run on one machine. Prints one table. */
import { readFile, writeFile } from 'node:fs/promises'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { Measure } from './bench.ts'
import { measures } from './measures.ts'
import { openBench } from './open-bench.ts'
import { reasons } from './reasons.ts'
import { machine, report, type Taken } from './report.ts'
import { formatTable } from './table.ts'

interface Options {
  only: Measure[]
  seconds: number
  runs: number
  databaseUrl?: string
  calibrate?: true
  markdown?: string
  editors: number
  editorsPerBoard: number
  activeShare: number
  edits: number
  cursors: number
}

const command = new Command('bench')
  .description('Measures Corkboard against its peers and prints each ratio with its target.')
  .addOption(
    new Option('--only <measures>', 'comma-separated list of measures to take')
      .argParser(parseMeasures)
      .default(measures, 'all'),
  )
  .option('--seconds <number>', 'measured seconds of each closed loop', parsePositive, 5)
  .option('--runs <number>', 'runs of each measure; the result is the median', parseCount, 3)
  .option('--database-url <url>', 'PostgreSQL server to use instead of the embedded one')
  .option('--calibrate', "compare each peer with a second copy of itself, to show the machine's noise")
  .addOption(
    new Option(
      '--markdown <file>',
      'also write the rows into this guide, such as docs/benchmarks.md',
    ).conflicts('calibrate'),
  )
  .option('--editors <number>', 'capacity: number of open editors to compute nodes for', parseCount, 1000)
  .option('--editors-per-board <number>', 'capacity: editors on a board', parsePositive, 4)
  .option(
    '--active-share <share>',
    'capacity: share of the editors that work at a moment',
    parsePositive,
    0.25,
  )
  .option('--edits <number>', 'capacity: edits a second of an editor that works', parsePositive, 1)
  .option(
    '--cursors <number>',
    'capacity: cursor positions a second of an editor that works',
    parsePositive,
    10,
  )
  .addHelpText(
    'after',
    `\nMeasures:\n${measures.map(({ name, summary }) => `  ${name.padEnd(12)} ${summary}`).join('\n')}`,
  )
  .parse()

process.exitCode = await main(command.opts<Options>())

/** Returns the exit code: 1 when a measure failed, otherwise 0, also when targets are missed. */
async function main(options: Options): Promise<number> {
  const calibrates = options.calibrate === true
  const selected = options.only.filter((measure) => !calibrates || !measure.needsCorkboard)
  if (selected.length === 0) {
    console.error(
      'None of these measures has a peer that can be compared with itself. Name others with --only.',
    )
    return 1
  }
  const taken: Taken[] = []
  const failed: string[] = []
  const notes: string[] = []
  const { bench, close } = openBench({
    seconds: options.seconds,
    runs: options.runs,
    databaseUrl: options.databaseUrl ?? null,
    calibrates,
    progress: (text) => console.error(text),
    note: (text) => notes.push(text),
    model: {
      editors: options.editors,
      editorsPerBoard: options.editorsPerBoard,
      activeShare: options.activeShare,
      editsPerSecond: options.edits,
      cursorsPerSecond: options.cursors,
    },
  })
  let interrupted = false
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      interrupted = true
      void close()
    })
  }
  try {
    for (const measure of selected) {
      try {
        taken.push({ measure: measure.name, rows: await measure.run(bench) })
      } catch (error) {
        if (interrupted) break
        failed.push(measure.name)
        console.error(`${measure.name} could not be measured:`, error)
      }
    }
  } finally {
    await close()
  }
  const rows = taken.flatMap(({ rows }) => rows)
  if (rows.length > 0) {
    const subjectName = calibrates ? 'second copy' : 'Corkboard'
    console.log(formatTable(rows, { subjectName, runs: options.runs, judged: !calibrates }))
  }
  for (const note of notes) console.log(`\n${note}`)
  if (options.markdown) await writeGuide(options.markdown, taken, options.runs)
  if (failed.length > 0) console.log(`Not measured: ${failed.join(', ')}.`)
  return interrupted || failed.length > 0 ? 1 : 0
}

async function writeGuide(path: string, taken: Taken[], runs: number): Promise<void> {
  const withRows = taken.filter(({ rows }) => rows.length > 0)
  const guide = await readFile(path, 'utf8')
  await writeFile(path, await report(guide, withRows, { runs, about: machine(), reasons }, path))
}

function parseMeasures(text: string): Measure[] {
  return text.split(',').map((name) => {
    const measure = measures.find((measure) => measure.name === name.trim())
    if (measure) return measure
    throw new InvalidArgumentError(
      `Use a comma-separated list of ${measures.map(({ name }) => name).join(', ')}.`,
    )
  })
}

function parsePositive(text: string): number {
  const value = Number(text)
  if (value > 0) return value
  throw new InvalidArgumentError('Use a positive number.')
}

function parseCount(text: string): number {
  const value = parsePositive(text)
  if (Number.isInteger(value)) return value
  throw new InvalidArgumentError('Use a whole number.')
}
