import { isMarkedAsUntransferable } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol } from 'piscina'

/** For what a task returns: the main thread gets the memory of the bytes, and need not copy them. */
export function moved<Result extends Uint8Array | Uint8Array[]>(result: Result): Result {
  const views: Uint8Array[] = result instanceof Uint8Array ? [result] : result
  const own = views.map(({ buffer }) => buffer).filter((buffer) => !isMarkedAsUntransferable(buffer))
  const transferable = { [transferableSymbol]: [...new Set(own)], [valueSymbol]: result }
  return move(transferable as never) as unknown as Result
}
