/** Reads and writes the members of workspaces and the shares of boards. Run it `asUser`, as the owner of the workspace. */
import type { Transaction } from '../database.ts'

/** Roles that a member besides the owner, or a share, can have. */
export const givenRoles = ['editor', 'viewer'] as const
export type GivenRole = (typeof givenRoles)[number]

export interface MemberRow {
  user_id: string
  email: string
  display_name: string | null
  role: 'owner' | GivenRole
}

export interface ShareRow {
  user_id: string
  email: string
  display_name: string | null
  role: GivenRole
  /** From when on the account sees the board's history. Null: it does not see it. */
  history_since: Date | null
}

export interface Rows {
  limit: number
  offset: number
}

/** The members who are persons, the owner first. */
export const readMembers = (tx: Transaction, workspaceId: string, { limit, offset }: Rows) =>
  tx<MemberRow[]>`select * from workspace_people(${workspaceId}) limit ${limit} offset ${offset}`

export async function findMember(
  tx: Transaction,
  workspaceId: string,
  userId: string,
): Promise<MemberRow | null> {
  const [row] = await tx<
    MemberRow[]
  >`select * from workspace_people(${workspaceId}) where user_id = ${userId}`
  return row ?? null
}

/** @returns false when the account is no member besides the owner */
export async function setMemberRole(
  tx: Transaction,
  { workspaceId, userId, role }: { workspaceId: string; userId: string; role: GivenRole },
): Promise<boolean> {
  const [row] = await tx<{ done: boolean }[]>`
    select set_member_role(${workspaceId}, ${userId}, ${role}) as done`
  return row!.done
}

/** @returns false when the account is no member besides the owner */
export async function removeMember(tx: Transaction, workspaceId: string, userId: string): Promise<boolean> {
  const [row] = await tx<{ done: boolean }[]>`select remove_member(${workspaceId}, ${userId}) as done`
  return row!.done
}

export const readShares = (tx: Transaction, boardId: string, { limit, offset }: Rows) =>
  tx<ShareRow[]>`select * from board_people(${boardId}) limit ${limit} offset ${offset}`

export async function findShare(tx: Transaction, boardId: string, userId: string): Promise<ShareRow | null> {
  const [row] = await tx<ShareRow[]>`select * from board_people(${boardId}) where user_id = ${userId}`
  return row ?? null
}

interface Share {
  boardId: string
  userId: string
}

/** @returns false when the account has nothing to do with the caller's workspaces */
export async function addShare(
  tx: Transaction,
  { boardId, userId, role, history }: Share & { role: GivenRole; history: boolean },
): Promise<boolean> {
  const [row] = await tx<{ done: boolean }[]>`
    select share_board(${boardId}, ${userId}, ${role}, ${history}) as done`
  return row!.done
}

/** @param share what is absent stays as it is. @returns false when the board is not shared with the account */
export async function changeShare(
  tx: Transaction,
  share: Share & { role?: GivenRole | undefined; history?: boolean | undefined },
): Promise<boolean> {
  const { boardId, userId, role = null, history = null } = share
  const [row] = await tx<{ done: boolean }[]>`
    select change_share(${boardId}, ${userId}, ${role}, ${history}) as done`
  return row!.done
}

/** @returns false when the board is not shared with the account */
export async function endShare(tx: Transaction, { boardId, userId }: Share): Promise<boolean> {
  const [row] = await tx<{ done: boolean }[]>`select end_share(${boardId}, ${userId}) as done`
  return row!.done
}
