/** Worlds: users, workspaces with boards, members, shares, and links with a guest each. */
import { randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../../sql/database.ts'

export interface WorkspacePlan {
  owner: number
  boards: { trashed: boolean }[]
}
export type Grant = [target: number, user: number, role: 'editor' | 'viewer']

export interface World {
  users: string[]
  workspaces: string[]
  boards: { id: string; workspace: number; trashed: boolean }[]
}

export const userCount = 5

export async function makeWorld(
  database: Database,
  plan: WorkspacePlan[],
  members: Grant[],
  shares: Grant[],
  links: Grant[] = [],
): Promise<World> {
  return database.asSystem(async (tx) => {
    const users: string[] = Array.from({ length: userCount }, () => randomUUID())
    for (const id of users) await tx`insert into users (id, email, tier) values (${id}, ${id}, 'pro')`
    const workspaces: string[] = []
    const boards: World['boards'] = []
    for (const [at, { owner, boards: planned }] of plan.entries()) {
      const workspace = randomUUID()
      workspaces.push(workspace)
      await tx`insert into workspaces (id, name, owner_id) values (${workspace}, 'w', ${users[owner]!})`
      for (const { trashed } of planned) {
        const id = randomUUID()
        boards.push({ id, workspace: at, trashed })
        await tx`
          insert into boards (id, workspace_id, name, deleted_at, identifiers)
          values (${id}, ${workspace}, 'b', ${trashed ? new Date() : null}, ${tx.json([{ scope: 's', value: id }])})`
      }
    }
    for (const [workspace, user, role] of members) {
      const target = workspaces[workspace % workspaces.length]!
      await tx`
        insert into workspace_members (workspace_id, user_id, role)
        select ${target}, ${users[user]!}, ${role} from workspaces where id = ${target} and owner_id <> ${users[user]!}
        on conflict do nothing`
    }
    for (const [board, user, role] of shares) {
      const target = boards[board % boards.length]
      if (target) {
        await tx`
          insert into board_shares (board_id, user_id, role) values (${target.id}, ${users[user]!}, ${role})
          on conflict do nothing`
      }
    }
    for (const link of links) users.push(await addGuest(tx, boards[link[0] % boards.length]!.id, link))
    for (const { id } of boards) {
      await tx`
        insert into card_index (board_id, card_id, workspace_id, kind, x, y, w, h, z, rotation, hash, position, op, cause, created_at, updated_at, identifiers)
        select id, 'c', workspace_id, 'note', 0, 0, 1, 1, 0, 0, '', 0, gen_random_uuid(), 'api', now(), now(), identifiers from boards where id = ${id}`
      await tx`
        insert into group_index (board_id, group_id, workspace_id, name, shape, outline, hash, position, created_at, updated_at)
        select id, 'g', workspace_id, 'g', 'box', true, '', 0, now(), now() from boards where id = ${id}`
      await tx`
        insert into removed_cards (restore_token, board_id, workspace_id, card_id, state, removed_at)
        select gen_random_uuid(), id, workspace_id, 'r', '', now() from boards where id = ${id}`
    }
    return { users, workspaces, boards }
  })
}

/** Whether a link still lets its guest in. */
export const isLive = ([, user]: Grant) => user > 1

/** Links of the first user have ended, those of the second have expired. */
async function addGuest(tx: Transaction, board: string, [, user, role]: Grant): Promise<string> {
  const [guest, link] = [randomUUID(), randomUUID()]
  await tx`
    insert into board_links (id, board_id, role, hash, ended_at, expires_at)
    values (${link}, ${board}, ${role}, ${Buffer.from(link)}, ${user === 0 ? new Date() : null}, ${user === 1 ? new Date() : null})`
  await tx`insert into users (id, email) values (${guest}, ${guest})`
  await tx`insert into guests (id, link_id, ends_at) values (${guest}, ${link}, now())`
  return guest
}
