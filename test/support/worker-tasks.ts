/** Functions for the tests of the worker pool. */

export function double(numbers: Uint8Array): Uint8Array {
  return numbers.map((number) => number * 2)
}

/** @returns the time that the work took, at least `ms` */
export function spin(ms: number): number {
  const start = performance.now()
  while (performance.now() - start < ms);
  return performance.now() - start
}

export function fail(message: string): never {
  throw new Error(message)
}

export function hoard(): number {
  const held: string[][] = []
  for (;;) held.push(Array.from({ length: 100_000 }, (_, index) => `${held.length} ${index}`))
}
