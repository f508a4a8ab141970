import type { Command } from 'commander'
import { findUser, setMember, type MemberRole } from '../../sql/accounts/accounts.ts'
import { answer } from './answer.ts'
import { withDatabase } from './database.ts'
import { emailOption, idOption, roleOption } from './options.ts'

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
    .addHelpText(
      'after',
      '\nExample:\n  npm run -s corkboard -- member set --workspace 0198c2c4-5a3e-7d1f-9b7a-2f6f5d1f0a11 --email ben@example.com --role editor',
    )
    .action(async ({ workspace, email, role }: { workspace: string; email: string; role: MemberRole }) => {
      await withDatabase((database) =>
        database.asSystem(async (tx) =>
          setMember(tx, { workspaceId: workspace, userId: await findUser(tx, email), role }),
        ),
      )
      answer({ workspace_id: workspace, email, role })
    })
}
