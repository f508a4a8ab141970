/** Runs the command line. The exit code says how it ended. */
import { CommanderError } from 'commander'
import { describeFault } from '../describe-fault.ts'
import { program } from './program.ts'

const exitCodes = { done: 0, refused: 1, usage: 2 } as const

process.exitCode = await run()

async function run(): Promise<number> {
  try {
    await program.parseAsync()
    return Number(process.exitCode ?? exitCodes.done)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
    process.stderr.write(`corkboard: ${describeFault(error)}\n`)
    return exitCodes.refused
  }
}
