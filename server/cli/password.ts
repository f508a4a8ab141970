/** Reads a password: never from the command line itself, where every process of the machine can see it. */
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { Writable } from 'node:stream'
import { passwordFault } from '../../core/password.ts'
import { AccountError } from '../../sql/accounts/accounts.ts'

/** All of standard input, but for a line's end. @throws AccountError when it is none */
export async function passwordFromStdin(): Promise<string> {
  const password = (await text(process.stdin)).replace(/\r?\n$/, '')
  if (/[\r\n]/.test(password)) throw new AccountError('A password is one line; standard input holds more.')
  return checked(password)
}

/** Asked for twice on a terminal, which does not show it; from a pipe as it is. */
export async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) return passwordFromStdin()
  const password = checked(await ask('New password: '))
  if ((await ask('Once more: ')) !== password) throw new AccountError('The two are not the same.')
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
