import { Option, type Command } from 'commander'
import type { Difference } from '../../collab/log/difference.ts'
import { boardIds, repairBoard, verifyBoard } from '../../collab/log/verify.ts'
import { AccountError } from '../../sql/accounts/accounts.ts'
import type { Database } from '../../sql/database.ts'
import { answer } from './answer.ts'
import { withDatabase } from './database.ts'
import { openFiles } from './files.ts'
import { examples, parseId, someId } from './options.ts'
import { showProgress } from './progress.ts'
import { repairFiles, verifyFiles, type FileDifference } from '../../workers/upkeep/verify-files.ts'
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
    .addHelpText(...examples('verify', 'verify --json', `verify --board ${someId} --repair`))
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
  if (!options.json) report('board', 'the index equals the documents', index, boardColumns)
  const files = options.board === undefined ? await verifyAllFiles(database, options.repair ?? false) : null
  if (options.json) answer({ boards: presentFindings(index), files: files && presentFindings(files) })
  else if (files) report('file', 'the stored files equal their rows', files, fileColumns)
  return agree(index) && (!files || agree(files)) ? 0 : 1
}

interface Findings<Fault> {
  /** Number of boards or files that were checked. */
  count: number
  found: Fault[]
  /** Differences that remain after a repair. Null without `--repair`. */
  left: Fault[] | null
}

const boardColumns = { board: 'boardId', what: 'what', id: 'id', fault: 'fault', detail: 'detail' } as const
const fileColumns = { file: 'key', fault: 'fault', detail: 'detail' } as const

const agree = ({ found, left }: Findings<unknown>) => (left ?? found).length === 0

const presentFindings = ({ count, found, left }: Findings<Difference | FileDifference>) => ({
  checked: count,
  differences: found,
  ...(left === null ? {} : { left }),
})

async function verifyAllFiles(database: Database, repair: boolean): Promise<Findings<FileDifference>> {
  const store = await openFiles()
  const { count, differences } = await verifyFiles(database, store)
  return { count, found: differences, left: repair ? await repairFiles(store, differences) : null }
}

/** Prints whether all is equal, or a table of the differences. @param columns by heading: the field of a difference */
function report<Fault>(
  unit: string,
  agreement: string,
  { count, found, left }: Findings<Fault>,
  columns: Record<string, keyof Fault>,
): void {
  const checked = `${count} ${count === 1 ? unit : `${unit}s`}`
  if (found.length === 0) {
    process.stdout.write(`${checked}: ${agreement}.\n`)
    return
  }
  const rows = found.map((fault) => Object.values(columns).map((field) => String(fault[field])))
  process.stdout.write(formatTable([Object.keys(columns), ...rows]))
  process.stdout.write(`${checked}: ${found.length} differences${describeRepair(left)}.\n`)
}

function describeRepair(left: unknown[] | null): string {
  if (left === null) return ''
  return left.length === 0 ? ', all repaired' : `, ${left.length} not repaired`
}
