/**
 * Loaded into every server under test before its own code. It reports memory, CPU time and the turns of the event loop,
 * and ends with the bench.
 */
import { measureTurns } from '../support/turn-meter.ts'

/** Runs only while turns are measured: its timer would count in all other measures. */
let meter: ReturnType<typeof measureTurns> | null = null

process.on('message', (message) => {
  if (message === 'turns') {
    if (meter) {
      process.send?.(meter.read())
      meter[Symbol.dispose]()
      meter = null
    } else {
      meter = measureTurns()
      process.send?.(null)
    }
  }
  if (message === 'cpu') {
    const { user, system } = process.cpuUsage()
    process.send?.((user + system) / 1000)
  }
  if (message !== 'memory') return
  // Twice, because memory that finalizers release in the first collection is freed in the second.
  globalThis.gc?.()
  globalThis.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  process.send?.({ rss, heapUsed, external })
})
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
// The listeners must not keep a server alive that has no work left.
process.channel?.unref()
