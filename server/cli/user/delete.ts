/** `user delete`: the erasure of an account. */
import type { Command } from 'commander'
import { AccountError, findUser } from '../../../sql/accounts/accounts.ts'
import { belongingsOf, eraseAccount, type Belongings } from '../../../workers/upkeep/erase-account.ts'
import { showCommand } from '../command.ts'
import { withDatabase } from '../database.ts'
import { fileParts } from '../files.ts'
import { dryRunOption, emailOption } from '../options.ts'

export function userDeleteCommand(user: Command): void {
  showCommand(user, {
    name: 'delete',
    description:
      'Erases an account. Its workspaces, tokens, sessions and shares are deleted. What it wrote on boards of others stays.\n' +
      'The audit keeps its ids, without its name and addresses. Refused while one of its workspaces is shared:\n' +
      '{"user_id","email","deleted","workspaces",…}',
    options: [emailOption(), dryRunOption()],
    examples: ['user delete --email ada@example.com --dry-run', 'user delete --email ada@example.com'],
    run: ({ email, dryRun = false }: { email: string; dryRun?: boolean }) =>
      withDatabase(async (database) => {
        const { userId, belongings } = await database.asSystem(async (tx) => {
          const userId = await findUser(tx, email)
          return { userId, belongings: await belongingsOf(tx, userId) }
        })
        refuseShared(belongings)
        if (!dryRun) await eraseAccount(await fileParts(database), userId)
        return { user_id: userId, email, deleted: !dryRun, ...belongings }
      }),
  })
}

function refuseShared({ workspaces }: Belongings): void {
  const shared = workspaces.filter((workspace) => workspace.shared_with > 0)
  if (shared.length === 0) return
  const named = shared.map(({ workspace_id, name }) => `${JSON.stringify(name)} (${workspace_id})`).join(', ')
  throw new AccountError(
    `This account owns workspaces that are shared with others: ${named}. Give each to another account with ` +
      '`workspace transfer`, or delete it with `workspace delete`.',
  )
}
