/**
 * Begins work on items in their order, several at a time.
 *
 * @param mayBegin asked before each; while it says no, what is under way is waited for
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
