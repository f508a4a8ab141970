import type { Command } from 'commander'
import { findUser, setMember, type MemberRole } from '../../sql/accounts/accounts.ts'
import { answer } from './answer.ts'
import { asService } from './database.ts'
import { emailOption, examples, idOption, roleOption, someId } from './options.ts'

const roles: readonly MemberRole[] = ['owner', 'editor', 'viewer', 'none']

export function memberCommands(program: Command): void {
  const member = program.command('member').description('members of workspaces')
  member
    .command('set')
    .description(
      'Gives an account a role in a workspace. The role `none` removes the account. The role `owner` transfers the\n' +
        'workspace; the previous owner becomes an editor:\n{"workspace_id","email","role"}',
    )
    .addOption(idOption('--workspace <workspace-id>', 'id of the workspace'))
    .addOption(emailOption())
    .addOption(roleOption(roles))
    .addHelpText(...examples(`member set --workspace ${someId} --email ben@example.com --role editor`))
    .action(async ({ workspace, email, role }: { workspace: string; email: string; role: MemberRole }) => {
      await asService(async (tx) =>
        setMember(tx, { workspaceId: workspace, userId: await findUser(tx, email), role }),
      )
      answer({ workspace_id: workspace, email, role })
    })
}
