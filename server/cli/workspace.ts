import type { Command } from 'commander'
import { addWorkspace, findUser } from '../../sql/accounts/accounts.ts'
import { answer } from './answer.ts'
import { asService } from './database.ts'
import { emailOption, examples, nameOption } from './options.ts'

export function workspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('workspaces')
  workspace
    .command('add')
    .description(
      'Makes a workspace. Its boards count towards the limits of its owner:\n{"workspace_id","name","owner"}',
    )
    .addOption(nameOption('name of the workspace'))
    .addOption(emailOption('--owner <email>', 'e-mail address of the account that owns it'))
    .addHelpText(...examples('workspace add --name Studio --owner ada@example.com'))
    .action(async ({ name, owner }: { name: string; owner: string }) => {
      const id = await asService(async (tx) => addWorkspace(tx, { name, ownerId: await findUser(tx, owner) }))
      answer({ workspace_id: id, name, owner })
    })
}
