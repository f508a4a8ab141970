/** Loaded into every server under test before its own code. It reports memory and CPU time, and ends with the bench. */
process.on('message', (message) => {
  if (message === 'cpu') {
    const { user, system } = process.cpuUsage()
    process.send?.((user + system) / 1000)
  }
  if (message !== 'memory') return
  // Twice, because memory that finalizers release in the first collection is freed in the second.
  globalThis.gc?.()
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  process.send?.({ rss, heapUsed })
})
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
// The listeners must not keep a server alive that has no work left.
process.channel?.unref()
