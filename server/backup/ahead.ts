/** Yields the results of `work` in the order of the items. Works on up to `most` items at once. */
export async function* ahead<T, R>(
  items: AsyncIterable<T>,
  most: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void> {
  const started: Promise<R>[] = []
  for await (const item of items) {
    const result = work(item)
    result.catch(() => undefined) // thrown when its turn comes
    started.push(result)
    if (started.length >= most) yield await started.shift()!
  }
  for (const result of started) yield await result
}
