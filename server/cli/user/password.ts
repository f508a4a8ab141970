/**
 * Reads a password from the terminal or from standard input. A command line option would show it to every process on
 * the machine.
 */
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { Writable } from 'node:stream'
import { passwordFault } from '../../../core/password.ts'
import { AccountError } from '../../../sql/accounts/accounts.ts'

/** Returns standard input without its last line break. @throws AccountError when that is not a valid password */
export async function passwordFromStdin(): Promise<string> {
  const password = (await text(process.stdin)).replace(/\r?\n$/, '')
  if (/[\r\n]/.test(password))
    throw new AccountError(
      'A password must be one line, and standard input has several. Send the password alone.',
    )
  return checked(password)
}

/** Asks for the password twice on a terminal, without showing it. Without a terminal, reads standard input. */
export async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) return passwordFromStdin()
  const password = checked(await ask('New password: '))
  if ((await ask('Repeat the password: ')) !== password)
    throw new AccountError('The two passwords differ. Run the command again.')
  return password
}

function checked(password: string): string {
  const fault = passwordFault(password)
  if (fault !== null) throw new AccountError(fault)
  return password
}

function ask(question: string): Promise<string> {
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true })
  return new Promise((resolve, reject) => {
    lines.once('SIGINT', () => {
      lines.close()
      reject(new AccountError('Nothing was changed.'))
    })
    lines.question('', (answer) => {
      lines.close()
      process.stderr.write('\n')
      resolve(answer)
    })
  })
}
