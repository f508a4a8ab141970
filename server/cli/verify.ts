import { Option, type Command } from 'commander'
import type { Difference } from '../../collab/log/difference.ts'
import { boardIds, repairBoard, verifyBoard } from '../../collab/log/verify.ts'
import { AccountError } from '../../sql/accounts/accounts.ts'
import type { Database } from '../../sql/database.ts'
import { answer } from './answer.ts'
import { withDatabase } from './database.ts'
import { parseId } from './options.ts'
import { showProgress } from './progress.ts'
import { repairFiles, verifyFiles, type FileDifference } from '../../workers/upkeep/verify-files.ts'
import { systemClock } from '../../platform/clock.ts'
import { readConfig } from '../config.ts'
import { resolveSecretKey } from '../secret-key.ts'
import { openStorage } from '../storage.ts'
import { formatTable } from './table.ts'

interface VerifyOptions {
  board?: string
  repair?: boolean
  json?: boolean
}

export function verifyCommand(program: Command): void {
  program
    .command('verify')
    .summary('compares the card index with the documents, and the rows of files with the stored files')
    .description(
      'Compares the card index with the documents of all boards, and the rows of files with the stored files.\n' +
        'Exits with 0 when they are equal. Otherwise prints a table of the differences and exits with 1.',
    )
    .addOption(new Option('--board <board-id>', 'compare only this board, and no files').argParser(parseId))
    .option(
      '--repair',
      'rewrite the index where it differs and delete stored files without a row; exits with 0 when all is equal then',
    )
    .option(
      '--json',
      'print one line of JSON: counts, differences, and differences that remain after a repair',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  npm run -s corkboard -- verify' +
        '\n  npm run -s corkboard -- verify --json' +
        '\n  npm run -s corkboard -- verify --board 0198c2c4-5a3e-7d1f-9b7a-2f6f5d1f0a11 --repair',
    )
    .action(async (options: VerifyOptions) => {
      process.exitCode = await withDatabase((database, { shared }) => verify(database, options, shared))
    })
}

async function verify(database: Database, options: VerifyOptions, shared: boolean): Promise<0 | 1> {
  const all = await boardIds(database)
  if (options.board !== undefined && !all.includes(options.board))
    throw new AccountError(`There is no board ${options.board}.`)
  const boards = options.board === undefined ? all : [options.board]
  // A running service indexes the edits of the last seconds by itself, so wait for it. If none runs, waiting is
  // useless.
  const wait = shared ? {} : { waitMs: 0 }
  const found: Difference[] = []
  const left: Difference[] = []
  const progress = showProgress('boards', boards.length)
  for (const boardId of boards) {
    const differences = await verifyBoard(database, boardId, wait)
    found.push(...differences)
    if (differences.length > 0 && options.repair) {
      await repairBoard(database, boardId)
      left.push(...(await verifyBoard(database, boardId, wait)))
    }
    progress.step()
  }
  progress.end()
  const index: Findings<Difference> = { count: boards.length, found, left: options.repair ? left : null }
  if (!options.json) report(index)
  const files = options.board === undefined ? await verifyAllFiles(database, options.repair ?? false) : null
  if (options.json) answer({ boards: presentFindings(index), files: files && presentFindings(files) })
  else if (files) reportFiles(files)
  return agree(index) && (!files || agree(files)) ? 0 : 1
}

interface Findings<Fault> {
  /** Number of boards or files that were checked. */
  count: number
  found: Fault[]
  /** Differences that remain after a repair. Null without `--repair`. */
  left: Fault[] | null
}

const agree = ({ found, left }: Findings<unknown>) => (left ?? found).length === 0

const presentFindings = ({ count, found, left }: Findings<Difference | FileDifference>) => ({
  checked: count,
  differences: found,
  ...(left === null ? {} : { left }),
})

async function verifyAllFiles(database: Database, repair: boolean): Promise<Findings<FileDifference>> {
  const config = readConfig(process.env)
  const secretKey = await resolveSecretKey(config)
  const log = { warn: () => undefined } // the only warning concerns multipart uploads, which a command never takes
  const { store } = openStorage({ ...config, secretKey }, { clock: systemClock, publicUrl: () => '', log })
  const { count, differences } = await verifyFiles(database, store)
  return { count, found: differences, left: repair ? await repairFiles(store, differences) : null }
}

function reportFiles({ count, found, left }: Findings<FileDifference>): void {
  const files = `${count} ${count === 1 ? 'file' : 'files'}`
  if (found.length === 0) {
    process.stdout.write(`${files}: the stored files equal their rows.\n`)
    return
  }
  const rows = found.map(({ key, fault, detail }) => [key, fault, detail])
  process.stdout.write(formatTable(['file', 'fault', 'detail'], rows))
  process.stdout.write(`${files}: ${found.length} differences${describeRepair(left)}.\n`)
}

function report({ count: boards, found, left }: Findings<Difference>): void {
  const count = `${boards} ${boards === 1 ? 'board' : 'boards'}`
  if (found.length === 0) {
    process.stdout.write(`${count}: the index equals the documents.\n`)
    return
  }
  const rows = found.map(({ boardId, what, id, fault, detail }) => [boardId, what, id, fault, detail])
  process.stdout.write(formatTable(['board', 'what', 'id', 'fault', 'detail'], rows))
  process.stdout.write(`${count}: ${found.length} differences${describeRepair(left)}.\n`)
}

function describeRepair(left: unknown[] | null): string {
  if (left === null) return ''
  return left.length === 0 ? ', all repaired' : `, ${left.length} not repaired`
}
