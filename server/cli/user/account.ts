/** `user list`, `show`, `set-tier`, `disable` and `enable`. */
import type { Command } from 'commander'
import { findUser, setDisabled, setTier } from '../../../sql/accounts/accounts.ts'
import type { Transaction } from '../../../sql/database.ts'
import { belongingsOf } from '../../../workers/upkeep/erase-account.ts'
import { showCommand } from '../command.ts'
import { asService } from '../database.ts'
import { emailOption, tierOption } from '../options.ts'

interface OfAccount {
  email: string
}

export function userAccountCommands(user: Command): void {
  showCommand(user, {
    name: 'list',
    description:
      'Lists the accounts of people, by e-mail address:\n{"users":[{"user_id","email","name","tier",…}]}',
    examples: ['user list', 'user list --json'],
    run: async () => ({ users: await asService((tx) => readUsers(tx)) }),
  })
  showCommand(user, {
    name: 'show',
    description: 'Shows an account, what it owns, and what it has access to.',
    options: [emailOption()],
    examples: ['user show --email ada@example.com'],
    run: ({ email }: OfAccount) =>
      asService(async (tx) => {
        const userId = await findUser(tx, email)
        const [user] = await readUsers(tx, userId)
        const { workspaces, ...belongings } = await belongingsOf(tx, userId)
        return { ...user, ...belongings, workspaces, member_of: await readMemberships(tx, userId) }
      }),
  })
  showCommand(user, {
    name: 'set-tier',
    description: 'Changes the plan of an account:\n{"user_id","email","tier"}',
    options: [emailOption(), tierOption().makeOptionMandatory()],
    examples: ['user set-tier --email ada@example.com --tier pro'],
    run: ({ email, tier }: OfAccount & { tier: 'free' | 'pro' }) =>
      asService(async (tx) => {
        const userId = await findUser(tx, email)
        await setTier(tx, userId, tier)
        return { user_id: userId, email, tier }
      }),
  })
  switchCommand(
    user,
    'disable',
    true,
    'Refuses an account: its sign-in, tokens and sessions, and the service accounts of its workspaces. Open canvases\nclose within 2 seconds. Nothing is deleted',
  )
  switchCommand(
    user,
    'enable',
    false,
    'Lets a disabled account in again, with the tokens and sessions that it had',
  )
}

function switchCommand(user: Command, name: string, disabled: boolean, description: string): void {
  showCommand(user, {
    name,
    description: `${description}:\n{"user_id","email","disabled"}`,
    options: [emailOption()],
    examples: [`user ${name} --email ada@example.com`],
    run: ({ email }: OfAccount) =>
      asService(async (tx) => {
        const userId = await findUser(tx, email)
        await setDisabled(tx, userId, disabled)
        return { user_id: userId, email, disabled }
      }),
  })
}

/** @param userId of one account. Null: of all */
const readUsers = (tx: Transaction, userId: string | null = null) => tx`
  select u.id as user_id, u.email, u.display_name as name, u.tier, u.disabled_at is not null as disabled, u.created_at,
    greatest(
      (select max(t.last_used_at) from tokens t where t.user_id = u.id),
      (select max(s.last_seen_at) from sessions s where s.user_id = u.id)
    ) as last_seen_at
  from users u
  where not exists (select from service_accounts s where s.id = u.id)
    and not exists (select from session_users s where s.id = u.id)
    and case when ${userId}::uuid is null then not exists (select from guests g where g.id = u.id) else u.id = ${userId} end
  order by lower(u.email)`

const readMemberships = (tx: Transaction, userId: string) => tx`
  select w.id as workspace_id, w.name, o.email as owner, m.role
  from workspace_members m
  join workspaces w on w.id = m.workspace_id
  join users o on o.id = w.owner_id
  where m.user_id = ${userId}
  order by w.name, w.id`
