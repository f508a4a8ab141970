/**
 * Starts work on items in order, at most `atOnce` at a time. Resolves when all are done.
 *
 * @param mayBegin called before each item; false: wait until a running item ends, then ask again
 */
export async function inOrder<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
  mayBegin: () => boolean = () => true,
): Promise<void> {
  const running = new Set<Promise<void>>()
  for (const item of items) {
    while (running.size > 0 && (running.size >= atOnce || !mayBegin())) await Promise.race(running)
    const one = work(item).finally(() => running.delete(one))
    running.add(one)
  }
  await Promise.all(running)
}
