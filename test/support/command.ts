/** The command line in this process. A command then takes a hundredth of the time of a process of its own. */
import { run } from '../../server/cli/program.ts'
import type { Outcome } from './instance.ts'

/** Runs a command with these variables set. Only one at a time, because all commands share the streams of the process. */
export async function runHere(args: string[], env: Record<string, string>): Promise<Outcome> {
  const before = { ...process.env }
  Object.assign(process.env, env)
  const printed = { stdout: '', stderr: '' }
  const streams = ['stdout', 'stderr'] as const
  const writes = streams.map((name) => process[name].write)
  for (const name of streams)
    process[name].write = (text: string | Uint8Array) => Boolean((printed[name] += text.toString()))
  try {
    return { code: await run(args), ...printed }
  } finally {
    process.exitCode = undefined
    for (const [at, name] of streams.entries()) process[name].write = writes[at]!
    for (const name of Object.keys(env)) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  }
}
