/** Loaded into every server under test, before its own code: tells its memory, and goes down with the bench. */
process.on('message', (message) => {
  if (message !== 'memory') return
  // Twice: what finalizers let go in the first collection goes in the second.
  globalThis.gc?.()
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  process.send?.({ rss, heapUsed })
})
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
// The listeners must not keep a server alive that ends by having nothing left to do.
process.channel?.unref()
