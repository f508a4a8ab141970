/** What would end the process: errors that nobody caught. */
const faults: unknown[] = []
/** An editor that leaves while it connects; only clients say so. */
const ofClients = 'WebSocket was closed before the connection was established'
const note = (error: unknown) => {
  if ((error as Error | null)?.message !== ofClients) faults.push(error)
}
process.on('uncaughtException', note)
process.on('unhandledRejection', note)

export const processFaults = (): readonly unknown[] => faults
