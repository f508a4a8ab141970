import type { Command } from 'commander'
import { findUser, shareBoard, type ShareRole } from '../../sql/accounts/accounts.ts'
import { cancelBoard, publishBoard, type Schedule } from '../../sql/boards/schedule.ts'
import type { Transaction } from '../../sql/database.ts'
import { answer } from './answer.ts'
import { asService, withDatabase } from './database.ts'
import { emailOption, examples, idOption, roleOption, someId } from './options.ts'

interface ShareOptions {
  board: string
  email: string
  role: ShareRole
  history?: boolean
}

const roles: readonly ShareRole[] = ['editor', 'viewer', 'none']

export function boardCommands(program: Command): void {
  const board = program.command('board').description('boards')
  board
    .command('share')
    .description(
      'Shares one board with an account, without the boards below it. The role `none` ends the share:\n{"board_id","email","role","history"}',
    )
    .addOption(idOption('--board <board-id>', 'id of the board'))
    .addOption(emailOption())
    .addOption(roleOption(roles))
    .option('--history', 'also share the history of the board, from now on')
    .addHelpText(...examples(`board share --board ${someId} --email cleo@example.com --role viewer`))
    .action(async ({ board: boardId, email, role, history = false }: ShareOptions) => {
      await asService(async (tx) =>
        shareBoard(tx, { boardId, userId: await findUser(tx, email), role, history }),
      )
      answer({ board_id: boardId, email, role, history })
    })

  scheduleCommand(
    board,
    'publish',
    'Publishes a board’s schedule, which makes a new version of its call sheet',
    publishBoard,
  )
  scheduleCommand(board, 'cancel', 'Cancels a board’s schedule', cancelBoard)
}

function scheduleCommand(
  board: Command,
  name: string,
  description: string,
  change: (tx: Transaction, boardId: string) => Promise<Schedule>,
): void {
  board
    .command(name)
    .description(`${description}:\n{"board_id","email","sched_status","sched_version","sched_published_at"}`)
    .addOption(idOption('--board <board-id>', 'id of the board'))
    .addOption(
      emailOption(
        '--email <email>',
        'e-mail address of the acting account, which needs write access to the workspace',
      ),
    )
    .addHelpText(...examples(`board ${name} --board ${someId} --email ada@example.com`))
    .action(async ({ board: boardId, email }: { board: string; email: string }) => {
      const schedule = await withDatabase(async (database) => {
        const userId = await database.asSystem((tx) => findUser(tx, email))
        return database.asUser(userId, (tx) => change(tx, boardId))
      })
      answer({ board_id: boardId, email, ...schedule })
    })
}
