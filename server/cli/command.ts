/** The pattern of commands that show something: a table, or one line of JSON with `--json`. */
import type { Command, Option } from 'commander'
import { answer } from './answer.ts'
import { examples } from './options.ts'
import { formatTable } from './table.ts'

export type Result = Record<string, unknown>

interface Definition<Options> {
  name: string
  description: string
  options?: Option[]
  examples: string[]
  run(options: Options): Promise<Result>
}

/** Adds a command that prints the result of `run`. */
export function showCommand<Options extends object>(parent: Command, definition: Definition<Options>): void {
  const { name, description, options = [], run } = definition
  const command = parent.command(name).description(description)
  for (const option of options) command.addOption(option)
  command
    .option('--json', 'print one line of JSON instead of a table')
    .addHelpText(...examples(...definition.examples))
    .action(async ({ json, ...given }: Options & { json?: true }) => {
      const result = await run(given as Options)
      if (json) answer(result)
      else process.stdout.write(tableOf(result))
    })
}

/**
 * Returns the fields of a result, one on each line, and a table for each field that is a list of objects. Bytes are
 * shown with a unit.
 */
export function tableOf(result: Result): string {
  const fields = flatten(result)
  const lists = fields.filter(([, value]) => isList(value)) as [string, Result[]][]
  const plain = fields.filter(([, value]) => !isList(value))
  const parts =
    plain.length === 0 ? [] : [formatTable(plain.map(([name, value]) => [name, cell(name, value)]))]
  for (const [name, rows] of lists) {
    const heading = plain.length === 0 && lists.length === 1 ? '' : `${name}:\n`
    parts.push(heading + (rows.length === 0 ? '(none)\n' : formatTable(rowsOf(rows))))
  }
  return parts.join('\n')
}

function rowsOf(rows: Result[]): string[][] {
  const names = flatten(rows[0]!).map(([name]) => name)
  return [names, ...rows.map((row) => flatten(row).map(([name, value]) => cell(name, value)))]
}

/** `{ files: { bytes: 1 } }` → `files.bytes` */
function flatten(body: Result): [string, unknown][] {
  return Object.entries(body).flatMap(([name, value]): [string, unknown][] =>
    isRecord(value) ? flatten(value).map(([inner, field]) => [`${name}.${inner}`, field]) : [[name, value]],
  )
}

const isRecord = (value: unknown): value is Result =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

const isList = (value: unknown) => Array.isArray(value) && value.every(isRecord)

function cell(name: string, value: unknown): string {
  if (value === null) return '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number' && /(^|[._])bytes$/.test(name)) return sizeOf(value)
  if (value instanceof Date) return value.toISOString()
  return Array.isArray(value) ? value.join(', ') : String(value)
}

export function sizeOf(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return power === 0 ? `${bytes} B` : `${(bytes / 1024 ** power).toFixed(1)} ${units[power]}`
}
