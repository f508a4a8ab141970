import type { Bench, Row, Target } from './bench.ts'

/** One result per run, in the order of the runs. */
export interface Compared<Result> {
  subject: Result[]
  reference: Result[]
}

/** Measures both sides in every run, in alternating order, so that a temporary slowdown of the machine affects both. */
export async function compare<Result>(
  bench: Bench,
  what: string,
  sides: Record<keyof Compared<Result>, () => Promise<Result>>,
  describe: (result: Result) => string,
): Promise<Compared<Result>> {
  const compared: Compared<Result> = { subject: [], reference: [] }
  for (let run = 0; run < bench.runs; run++) {
    const order = ['subject', 'reference'] as const
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
  about: { name: string; unit: string; referenceName: string; target: Target },
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

function isMet(target: Target, figure: number, reference: number): boolean | null {
  if ('atMostHere' in target) return figure <= target.atMostHere
  if (reference <= 0) return null
  return 'atLeast' in target ? figure / reference >= target.atLeast : figure / reference <= target.atMost
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
