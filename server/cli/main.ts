/** Runs the command line. The exit code says how it ended. */
import { run } from './program.ts'

process.exitCode = await run(process.argv.slice(2))
