/** Writes rows into a guide: the bench replaces the part of each measure that it has taken, and leaves the rest. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { format } from 'oxfmt'
import type { Row } from './bench.ts'
import { formatNumber, formatRatio, formatTarget, outcomeOf } from './table.ts'

export interface Taken {
  /** The name of the measure. */
  measure: string
  rows: Row[]
}

export interface Circumstances {
  runs: number
  /** When, and on what. */
  about: string
  /** Why rows miss their targets, by their names. */
  reasons: Record<string, string>
}

/**
 * Replaces what is between `<!-- bench NAME -->` and `<!-- end -->`.
 *
 * @throws for a measure that the guide has no place for
 */
export async function report(
  guide: string,
  taken: Taken[],
  { runs, about, reasons }: Circumstances,
  path: string,
): Promise<string> {
  let text = guide
  for (const { measure, rows } of taken) {
    const place = new RegExp(`(<!-- bench ${measure} -->\n)[^]*?(<!-- end -->)`)
    if (!place.test(text))
      throw new Error(`${path} has no lines <!-- bench ${measure} --> and <!-- end --> around a table.`)
    const part = `${table(rows)}\n\n${missed(rows, reasons)}${about} Medians of ${runs}.\n\n`
    text = text.replace(place, (_, begin: string, end: string) => `${begin}\n${part}${end}`)
  }
  return (await format(path, text)).code
}

function table(rows: Row[]): string {
  const lines = [
    ['what', 'unit', 'Corkboard', 'against', '', 'ratio', 'target', ''],
    ['-', '-', '-:', '-', '-:', '-:', '-', '-'],
    ...rows.map((row) => [
      row.name,
      row.unit,
      formatNumber(row.subject),
      row.referenceName,
      formatNumber(row.reference),
      formatRatio(row),
      formatTarget(row),
      outcomeOf(row, '**missed**'),
    ]),
  ]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function missed(rows: Row[], reasons: Record<string, string>): string {
  const lines = rows
    .filter(({ met }) => met === false)
    .map(({ name, unit }) => `- **${name}** (${unit}): ${reasons[name] ?? 'not looked into yet.'}`)
  return lines.length === 0 ? '' : `Missed:\n\n${lines.join('\n')}\n\n`
}

/** The machine, in a sentence. */
export function machine(): string {
  const [cpu] = cpus()
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  const revision = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim()
  const day = new Date().toISOString().slice(0, 10)
  const system =
    readFileSync('/etc/os-release', 'utf8').match(/^PRETTY_NAME="(.*)"$/m)?.[1] ?? process.platform
  return (
    `${day}, at ${revision}: ${cpus().length} cores (${cpu?.model ?? 'unknown'}), ${gigabytes} GB, ${system}, ` +
    `Node ${process.versions.node}; load ${loadavg()[1]!.toFixed(1)}.`
  )
}
