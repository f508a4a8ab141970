/** The command line, `npm run -s corkboard -- …`. Each group of commands has a file. */
import { Command, CommanderError } from 'commander'
import { describeFault } from '../describe-fault.ts'
import { backupCommand } from './backup.ts'
import { boardCommands } from './board.ts'
import { listenCommand } from './listen/listen.ts'
import { memberCommands } from './member.ts'
import { restoreCommand } from './restore.ts'
import { resumeCommand } from './resume.ts'
import { secretCommands } from './secret.ts'
import { statusCommand } from './status.ts'
import { storageCommands } from './storage.ts'
import { tokenCommands } from './token.ts'
import { userCommands } from './user/user.ts'
import { verifyCommand } from './verify.ts'
import { webhookCommands } from './webhook.ts'
import { workspaceCommands } from './workspace.ts'

export const program = new Command('corkboard')
  .description(
    'Administers Corkboard. Commands use the database of DATABASE_URL. If DATABASE_URL is not set, they use the ' +
      'embedded database in DATA_DIR. If no instance runs, the command starts that database and stops it at the end.',
  )
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(oneLine(text)) })
  .addHelpText(
    'after',
    '\nExit codes: 0 done, 1 refused or failed (verify: found differences), 2 invalid command line.' +
      '\nExample:\n  npm run -s corkboard -- user add --email ada@example.com --name Ada',
  )

userCommands(program)
tokenCommands(program)
workspaceCommands(program)
memberCommands(program)
boardCommands(program)
webhookCommands(program)
storageCommands(program)
secretCommands(program)
statusCommand(program)
verifyCommand(program)
listenCommand(program)
backupCommand(program)
restoreCommand(program)
resumeCommand(program)

const exitCodes = { done: 0, refused: 1, usage: 2 } as const

/** Runs a command. Prints what fails on standard error, as one line. @returns the exit code */
export async function run(args: string[]): Promise<number> {
  try {
    await program.parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? exitCodes.done)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
    process.stderr.write(`corkboard: ${describeFault(error)}\n`)
    return exitCodes.refused
  }
}

/** `error: unknown option '--foo'\n(Did you mean …?)` → one line */
function oneLine(text: string): string {
  const line = text.trim().replace(/^error: /, '')
  return `corkboard: ${line.replaceAll(/\s*\n\s*/g, ' ')}\n`
}
