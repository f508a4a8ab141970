import type { Bench, Row, Target } from './bench.ts'

/** One result per run, in the order of the runs. */
export interface Compared<Result> {
  subject: Result[]
  reference: Result[]
}

type Side = keyof Compared<unknown> | 'floor'

/** Measures all sides in every run, in alternating order, so that a temporary slowdown of the machine affects all. */
export async function compare<Result, Sides extends Side>(
  bench: Bench,
  what: string,
  sides: Record<Sides, () => Promise<Result>>,
  describe: (result: Result) => string,
): Promise<Record<Sides, Result[]>> {
  const order = Object.keys(sides) as Sides[]
  const compared = Object.fromEntries(order.map((side) => [side, []])) as unknown as Record<Sides, Result[]>
  for (let run = 0; run < bench.runs; run++) {
    for (const side of run % 2 === 0 ? order : order.toReversed()) {
      const result = await sides[side]()
      compared[side].push(result)
      bench.progress(`${what}, run ${run + 1} of ${bench.runs}, ${side}: ${describe(result)}`)
    }
  }
  return compared
}

/** Returns the row for one figure of a comparison. */
export function rowOf<Result>(
  compared: Compared<Result>,
  figure: (result: Result) => number,
  about: Pick<Row, 'name' | 'unit' | 'referenceName' | 'target'>,
): Row {
  const subject = compared.subject.map(figure)
  const reference = compared.reference.map(figure)
  const ratio = median(subject) / median(reference)
  const ratios = subject.map((value, run) => value / reference[run]!)
  return {
    ...about,
    subject: median(subject),
    reference: median(reference),
    ratio,
    ratioRange: [Math.min(...ratios), Math.max(...ratios)],
    met: isMet(about.target, median(subject), median(reference)),
  }
}

/** The row for the same figure beside the floor. It has no target. */
export const floorRowOf = <Result>(
  { subject, floor }: Record<'subject' | 'floor', Result[]>,
  figure: (result: Result) => number,
  about: Pick<Row, 'name' | 'unit'>,
): Row => rowOf({ subject, reference: floor }, figure, { ...about, referenceName: 'bare ws', target: null })

function isMet(target: Target | null, figure: number, reference: number): boolean | null {
  if (!target) return null
  if ('atMostHere' in target) return figure <= target.atMostHere
  if (reference <= 0) return null
  return 'atLeast' in target ? figure / reference >= target.atLeast : figure / reference <= target.atMost
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
