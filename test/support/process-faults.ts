/** What would end the process: errors that nobody caught. */
const faults: unknown[] = []
const note = (error: unknown) => void faults.push(error)
process.on('uncaughtException', note)
process.on('unhandledRejection', note)

export const processFaults = (): readonly unknown[] => faults
