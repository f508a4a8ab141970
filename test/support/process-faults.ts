/** Records uncaught errors, which would end the process. */
const faults: unknown[] = []
/** Error of an editor that leaves while it connects. Only clients raise it. */
const ofClients = 'WebSocket was closed before the connection was established'
const note = (error: unknown) => {
  if ((error as Error | null)?.message !== ofClients) faults.push(error)
}
process.on('uncaughtException', note)
process.on('unhandledRejection', note)

/** @returns the errors since the last call */
export const processFaults = (): readonly unknown[] => faults.splice(0)
