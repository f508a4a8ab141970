/** How the command line explains itself: refused arguments, help, progress. It needs no service. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import type { Command } from 'commander'
import { program } from '../../server/cli/program.ts'
import { showProgress } from '../../server/cli/progress.ts'
import { runHere } from '../support/command.ts'
import { corkboard, makeDataDir } from '../support/instance.ts'

const dataDir = await makeDataDir(afterAll)
const nowhere = { DATABASE_URL: 'postgres://cork@127.0.0.1:1/cork' }

test.each([
  [['user', 'add', '--name', 'A'], "required option '--email <email>' not specified"],
  [['user', 'add', '--email', 'nobody', '--name', 'A'], 'Use an e-mail address.'],
  [['user', 'add', '--email', 'a@b.c', '--name', ' '], 'Use 1 to 200 characters.'],
  [['user', 'add', '--email', 'a@b.c', '--name', 'A', '--tier', 'gold'], 'Allowed choices are free, pro.'],
  [
    ['user', 'add', '--email', 'a@b.c', '--name', 'A', '--scopes', 'read,all'],
    'Use a comma-separated list of read, write, delete.',
  ],
  [
    ['token', 'add', '--email', 'a@b.c', '--name', 'A', '--ttl-days', '3651'],
    'Use a whole number of days, 1 to 3650.',
  ],
  [
    ['token', 'add', '--email', 'a@b.c', '--name', 'A', '--rate-limit', '1.5'],
    'Use a whole number of requests per hour, 1 to 100000.',
  ],
  [['token', 'revoke', '--id', '17'], 'Use a UUID.'],
  [['workspace', 'add', '--name', 'W', '--owner', '@'], 'Use an e-mail address.'],
  [['member', 'set', '--workspace', 'w', '--email', 'a@b.c', '--role', 'editor'], 'Use a UUID.'],
  [
    ['board', 'share', '--board', randomUUID(), '--email', 'a@b.c', '--role', 'owner'],
    'Allowed choices are editor, viewer, none.',
  ],
  [['verify', '--board', 'all'], 'Use a UUID.'],
  [['verify', '--repiar'], "unknown option '--repiar' (Did you mean --repair?)"],
  [['usre'], "unknown command 'usre' (Did you mean user?)"],
])('[O25] %j is refused in one line, before a database is looked for', async (args, message) => {
  const { code, stdout, stderr } = await runHere(args, { ...nowhere, DATA_DIR: dataDir })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^corkboard: [^\n]+\n$/)
  expect(stderr).toContain(message)
})

test('[O25] so it is as a process', async () => {
  const { code, stdout, stderr } = await corkboard(dataDir, ['verify', '--board', 'all'], nowhere)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^corkboard: [^\n]*Use a UUID\.\n$/)
})

test('[O27] each command shows how, with an example', () => {
  const helpOf = (command: Command) => {
    let text = ''
    command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
    return text
  }
  const check = (command: Command, path: string[]) => {
    for (const inner of command.commands) check(inner, [...path, inner.name()])
    if (command.commands.length > 0 && path.length > 0) return // a group of commands
    const help = helpOf(command)
    expect(help).toContain(`Usage: ${['corkboard', ...path].join(' ')}`)
    expect(help).toContain(`npm run -s corkboard -- ${path.join(' ')}`)
  }
  check(program, [])
})

test('[O29] progress is shown on a terminal, and nowhere else', async () => {
  const written: string[] = []
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0
  const silent = showProgress('boards', 2, { isTTY: false, write })
  silent.step()
  silent.end()
  expect(written).toEqual([])
  const shown = showProgress('boards', 2, { isTTY: true, write })
  shown.step()
  shown.step()
  shown.end()
  expect(written).toEqual([
    `\r[${'#'.repeat(10)}${' '.repeat(10)}] 1 of 2 boards`,
    `\r[${'#'.repeat(20)}] 2 of 2 boards`,
    '\r\u001B[K',
  ])
})
