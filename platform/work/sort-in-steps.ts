import type { Steps } from './loop-turn.ts'

const itemsPerStep = 500

/** Sorts a list of any length in steps: sorts runs of it, then merges them. Equal items keep their order. */
export function* sortInSteps<Item>(
  items: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Steps<Item[]> {
  let runs: Item[][] = []
  for (let from = 0; from < items.length; from += itemsPerStep) {
    runs.push(items.slice(from, from + itemsPerStep).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const merged: Item[][] = []
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* merge(runs[at]!, runs[at + 1] ?? [], compare))
    runs = merged
  }
  return runs[0] ?? []
}

function* merge<Item>(first: Item[], second: Item[], compare: (a: Item, b: Item) => number): Steps<Item[]> {
  const merged: Item[] = []
  for (let [i, j] = [0, 0]; i < first.length || j < second.length;) {
    if (j === second.length || (i < first.length && compare(first[i]!, second[j]!) <= 0)) {
      merged.push(first[i]!)
      i += 1
    } else {
      merged.push(second[j]!)
      j += 1
    }
    if (merged.length % itemsPerStep === 0) yield
  }
  return merged
}
