import type { Command } from 'commander'
import { AccountError, addWorkspace, findUser, setMember } from '../../sql/accounts/accounts.ts'
import type { Transaction } from '../../sql/database.ts'
import { findSessionUser } from '../../sql/accounts/session-users.ts'
import { deleteWorkspace } from '../../workers/upkeep/delete-workspace.ts'
import { eraseAccount } from '../../workers/upkeep/erase-account.ts'
import { answer } from './answer.ts'
import { showCommand } from './command.ts'
import { asService, withDatabase } from './database.ts'
import { fileParts } from './files.ts'
import {
  dryRunOption,
  emailOption,
  examples,
  idOption,
  nameOption,
  sessionUserOption,
  someId,
} from './options.ts'

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

  showCommand(workspace, {
    name: 'list',
    description: 'Lists the workspaces, by name:\n{"workspaces":[{"workspace_id","name","owner",…}]}',
    examples: ['workspace list', 'workspace list --json'],
    run: async () => ({ workspaces: await asService((tx) => readWorkspaces(tx)) }),
  })
  showCommand(workspace, {
    name: 'show',
    description: 'Shows a workspace, its members, and who else may see one of its boards.',
    options: [workspaceOption()],
    examples: [`workspace show --workspace ${someId}`],
    run: ({ workspace: id }: OfWorkspace) =>
      asService(async (tx) => ({
        ...(await requireWorkspace(tx, id)),
        members: await readMembers(tx, id),
        shared_boards: await readShares(tx, id),
      })),
  })
  showCommand(workspace, {
    name: 'transfer',
    description:
      'Makes another account the owner of a workspace. The previous owner becomes an editor:\n{"workspace_id","owner"}',
    options: [workspaceOption(), emailOption('--email <email>', 'e-mail address of the new owner')],
    examples: [`workspace transfer --workspace ${someId} --email ben@example.com`],
    run: ({ workspace: workspaceId, email }: OfWorkspace & { email: string }) =>
      asService(async (tx) => {
        await setMember(tx, { workspaceId, userId: await findUser(tx, email), role: 'owner' })
        return { workspace_id: workspaceId, owner: email }
      }),
  })
  showCommand(workspace, {
    name: 'delete',
    description:
      'Deletes a workspace with its boards, files, webhooks and service accounts. There is no way back except a backup.',
    options: [workspaceOption(), dryRunOption()],
    examples: [`workspace delete --workspace ${someId} --dry-run`, `workspace delete --workspace ${someId}`],
    run: ({ workspace: id, dryRun = false }: OfWorkspace & { dryRun?: boolean }) =>
      withDatabase(async (database) => {
        const found = await database.asSystem((tx) => requireWorkspace(tx, id))
        if (!dryRun) await deleteWorkspace(await fileParts(database), id)
        return { ...found, deleted: !dryRun }
      }),
  })
  showCommand(workspace, {
    name: 'erase-user',
    description:
      'Erases a user of minted sessions: name, color, picture, id, and addresses in the audit. Their sessions end.\n' +
      'What they wrote stays:\n{"workspace_id","user","user_id","deleted"}',
    options: [workspaceOption(), sessionUserOption(), dryRunOption()],
    examples: [`workspace erase-user --workspace ${someId} --user u-17`],
    run: ({ workspace: id, user, dryRun = false }: OfWorkspace & { user: string; dryRun?: boolean }) =>
      withDatabase(async (database) => {
        const account = await database.asSystem((tx) => findSessionUser(tx, id, user))
        if (account === null)
          throw new AccountError(`The workspace ${id} has had no session of the user ${user}.`)
        if (!dryRun) await eraseAccount(await fileParts(database), account)
        return { workspace_id: id, user, user_id: account, deleted: !dryRun }
      }),
  })
}

interface OfWorkspace {
  workspace: string
}

const workspaceOption = () => idOption('--workspace <workspace-id>', 'id of the workspace')

/** @param id of one workspace. Null: of all */
const readWorkspaces = (tx: Transaction, id: string | null = null) => tx`
  select w.id as workspace_id, w.name, u.email as owner, w.personal, w.created_at,
    (select count(*)::integer from workspace_members m
      where m.workspace_id = w.id and m.user_id not in (select s.id from service_accounts s)) as members,
    (select count(*)::integer from service_accounts s where s.workspace_id = w.id) as service_accounts,
    (select count(*)::integer from webhooks h where h.workspace_id = w.id) as webhooks,
    (select count(*)::integer from boards b where b.workspace_id = w.id) as boards,
    coalesce((select s.stored from storage_usage s where s.workspace_id = w.id), 0) as file_bytes,
    (select coalesce(sum(d.bytes), 0)::bigint from document_sizes d where d.workspace_id = w.id) as document_bytes
  from workspaces w
  join users u on u.id = w.owner_id
  where ${id}::uuid is null or w.id = ${id}
  order by w.name, w.id`

async function requireWorkspace(tx: Transaction, id: string) {
  const [workspace] = await readWorkspaces(tx, id)
  if (!workspace)
    throw new AccountError(`There is no workspace ${id}. \`workspace list\` shows all with their ids.`)
  return workspace
}

const readMembers = (tx: Transaction, id: string) => tx`
  select u.id as user_id, case when s.id is null then u.email end as email, u.display_name as name, m.role,
    s.id is not null as service_account
  from workspace_members m
  join users u on u.id = m.user_id
  left join service_accounts s on s.id = u.id
  where m.workspace_id = ${id}
  order by s.id is not null, u.email`

const readShares = (tx: Transaction, id: string) => tx`
  select b.id as board_id, b.name, u.email, s.role
  from board_shares s
  join boards b on b.id = s.board_id
  join users u on u.id = s.user_id
  where b.workspace_id = ${id}
  order by b.name, b.id, u.email`
