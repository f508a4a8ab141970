/**
 * Erases an account while the service runs. What is its alone is deleted. What it wrote on boards of others stays there.
 * The audit keeps its ids, without its name and its addresses.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Database, Transaction } from '../../sql/database.ts'
import { inBatches } from '../in-batches.ts'
import { deleteWorkspace } from './delete-workspace.ts'
import type { FileParts } from './end-uploads.ts'

/** How notifications name an account that was erased. */
const erasedName = 'deleted user'
const rowsAtOnce = 1000
const pollMs = 100
/** A transaction of the service ends earlier. Only one of somebody else's, such as a backup, takes longer. */
const mostWaitMs = 30_000

/** What an account owns or has elsewhere. */
export interface Belongings {
  /** Its workspaces. `shared_with`: how many other people are members, or have a board of the workspace shared with them. */
  workspaces: {
    workspace_id: string
    name: string
    boards: number
    files: number
    file_bytes: number
    service_accounts: number
    webhooks: number
    shared_with: number
  }[]
  tokens: number
  sessions: number
  applications: number
  memberships: number
  shared_boards: number
  /** Webhooks in workspaces of others. They stay, and are switched off until another member switches them on. */
  webhooks_elsewhere: number
  /** Audit entries that lose the account's name and addresses. */
  audit_entries: number
}

export async function belongingsOf(tx: Transaction, userId: string): Promise<Belongings> {
  const workspaces = await tx<Belongings['workspaces']>`
    select w.id as workspace_id, w.name,
      (select count(*)::integer from boards b where b.workspace_id = w.id) as boards,
      (select count(*)::integer from images i where i.workspace_id = w.id) as files,
      coalesce((select s.stored from storage_usage s where s.workspace_id = w.id), 0) as file_bytes,
      (select count(*)::integer from service_accounts s where s.workspace_id = w.id) as service_accounts,
      (select count(*)::integer from webhooks h where h.workspace_id = w.id) as webhooks,
      (select count(*)::integer from (
        select m.user_id from workspace_members m
        where m.workspace_id = w.id and m.user_id not in (select s.id from service_accounts s)
        union
        select s.user_id from board_shares s join boards b on b.id = s.board_id where b.workspace_id = w.id
      ) others) as shared_with
    from workspaces w
    where w.owner_id = ${userId}
    order by w.created_at, w.id`
  const [counts] = await tx<Omit<Belongings, 'workspaces'>[]>`
    select
      (select count(*)::integer from tokens where user_id = ${userId} and grant_id is null) as tokens,
      (select count(*)::integer from sessions where user_id = ${userId}) as sessions,
      (select count(*)::integer from oauth_grants where user_id = ${userId}) as applications,
      (select count(*)::integer from workspace_members where user_id = ${userId}) as memberships,
      (select count(*)::integer from board_shares where user_id = ${userId}) as shared_boards,
      (select count(*)::integer from webhooks h join workspaces w on w.id = h.workspace_id
        where h.created_by = ${userId} and w.owner_id <> ${userId}) as webhooks_elsewhere,
      (select count(*)::integer from audit_operations where user_id = ${userId}) as audit_entries`
  return { workspaces: [...workspaces], ...counts! }
}

/** Erases an account. If it fails or the process ends, the next call goes on. The account is disabled from the start. */
export async function eraseAccount(parts: FileParts, userId: string): Promise<void> {
  const { database } = parts
  await database.asSystem((tx) => tx`update users set disabled_at = now() where id = ${userId}`)
  const erased = [userId]
  let transactionId: string | null = null
  while (transactionId === null) {
    const owned = await database.asSystem(
      (tx) => tx<{ id: string; accounts: string[] }[]>`
        select w.id, array(
          select s.id from service_accounts s where s.workspace_id = w.id
          union all
          select g.id
          from boards b
          join board_links l on l.board_id = b.id
          join guests g on g.link_id = l.id
          where b.workspace_id = w.id
          union all
          select s.id from session_users s where s.workspace_id = w.id
        ) as accounts
        from workspaces w
        where w.owner_id = ${userId}`,
    )
    for (const { id, accounts } of owned) {
      await deleteWorkspace(parts, id)
      erased.push(...accounts)
    }
    await removeNames(database, erased)
    transactionId = await database.asSystem((tx) => deleteAccount(tx, userId), 'background')
  }
  // A transaction that began before that may still write the name.
  await olderTransactionsEnd(database, transactionId)
  await removeNames(database, erased)
}

/**
 * Deletes the account's row, and with it all rows that refer to it.
 *
 * @returns the id of the transaction; null when the account has come to own another workspace
 */
async function deleteAccount(tx: Transaction, userId: string): Promise<string | null> {
  await tx`select from users where id = ${userId} for update` // nobody can make a workspace for it now
  const owned = await tx`select from workspaces where owner_id = ${userId}`
  if (owned.length > 0) return null
  await tx`delete from idempotency_keys where user_id = ${userId}`
  await tx`delete from invitations i using users u where u.id = ${userId} and lower(i.email) = lower(u.email)`
  await tx`delete from guest_bytes where user_id = ${userId}`
  const [row] = await tx<{ id: string }[]>`select pg_current_xact_id()::text as id`
  await tx`delete from users where id = ${userId}`
  return row!.id
}

async function removeNames(database: Database, accounts: string[]): Promise<void> {
  await inBatches(
    database,
    rowsAtOnce,
    (tx) => tx`
      update audit_operations set display_name = null, ip = ''
      where ctid = any (array(
        select ctid from audit_operations
        where user_id = any (${accounts}::uuid[]) and (display_name is not null or ip <> '')
        limit ${rowsAtOnce}
      ))`,
  )
  await database.asSystem(
    (tx) => tx`
      update notifications set data = jsonb_set(data, '{actor,display_name}', to_jsonb(${erasedName}::text))
      where data #>> '{actor,user_id}' = any (${accounts})
        and data #>> '{actor,display_name}' is distinct from ${erasedName}`,
    'background',
  )
}

async function olderTransactionsEnd(database: Database, transactionId: string): Promise<void> {
  const deadline = performance.now() + mostWaitMs
  while (performance.now() < deadline) {
    const [row] = await database.asSystem(
      (tx) => tx<{ ended: boolean }[]>`
        select pg_snapshot_xmin(pg_current_snapshot()) > ${transactionId}::text::xid8 as ended`,
    )
    if (row!.ended) return
    await delay(pollMs)
  }
}
