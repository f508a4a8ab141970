import type { Row } from './bench.ts'

interface TableOptions {
  subjectName: string
  /** Number of runs. Each figure is the median of them. */
  runs: number
  /** False omits the targets. */
  judged: boolean
}

/** Formats rows as aligned text. If `judged`, lists the missed targets. */
export function formatTable(rows: Row[], { subjectName, runs, judged }: TableOptions): string {
  const head = ['what', 'unit', subjectName, 'against', '', 'ratio', 'of the runs']
  const lines = judged
    ? [[...head, 'target', ''], ...rows.map((row) => [...measuredCells(row), ...judgedCells(row)])]
    : [head, ...rows.map(measuredCells)]
  const text = align(lines)
  const rule = '-'.repeat(Math.max(...text.map((line) => line.length)))
  return [text[0], rule, ...text.slice(1), '', judged ? summary(rows, runs) : `Medians of ${runs}.`].join(
    '\n',
  )
}

function summary(rows: Row[], runs: number): string {
  const missed = rows.filter(({ met }) => met === false).map((row) => `${row.name} (${row.unit})`)
  const judged = rows.filter(({ target }) => target)
  const met = `${rows.filter((row) => row.met).length} of ${judged.length} targets met, by medians of ${runs}.`
  return missed.length === 0 ? met : `${met} Missed: ${missed.join('; ')}.`
}

function align(lines: string[][]): string[] {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const pad = (cell: string, column: number) =>
    rightAligned.has(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)
  return lines.map((line) => line.map(pad).join('  ').trimEnd())
}

const rightAligned = new Set([2, 4, 5, 6])

function measuredCells(row: Row): string[] {
  return [
    row.name,
    row.unit,
    formatNumber(row.subject),
    row.referenceName,
    formatNumber(row.reference),
    formatRatio(row),
    `${row.ratioRange[0].toFixed(2)} to ${row.ratioRange[1].toFixed(2)}`,
  ]
}

function judgedCells(row: Row): string[] {
  return [formatTarget(row), outcomeOf(row, 'MISSED')]
}

export const formatRatio = ({ reference, ratio }: Row): string => (reference > 0 ? ratio.toFixed(2) : '–')

export function outcomeOf({ target, met }: Row, missed: string): string {
  if (!target) return ''
  return met === null ? 'no ratio' : met ? 'met' : missed
}

export function formatTarget({ target, unit }: Row): string {
  if (!target) return '–'
  if ('atLeast' in target) return `>= ${target.atLeast}`
  return 'atMost' in target ? `<= ${target.atMost}` : `<= ${target.atMostHere} ${unit.split(' ')[0]}`
}

export function formatNumber(value: number): string {
  return value >= 100
    ? Math.round(value).toLocaleString('en')
    : value.toLocaleString('en', { maximumSignificantDigits: 3 })
}
