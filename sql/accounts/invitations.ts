/**
 * Writes invitations to workspaces and boards. The owner makes and revokes them, `asUser`. Whoever has the code of one
 * finds and accepts it, `asSystem`.
 */
import { limits } from '../../core/limits.ts'
import type { Transaction } from '../database.ts'
import { setMember, shareBoard } from './accounts.ts'
import type { GivenRole, Rows } from './people.ts'
import { makeSecret, secretHash } from './sessions.ts'

export const invitedRoles = ['owner', 'editor', 'viewer'] as const

export interface NewInvitation {
  id: string
  workspaceId: string
  /** Null: the whole workspace. */
  boardId: string | null
  /** Null: any account that has the link. */
  email: string | null
  /** `owner` transfers the workspace. */
  role: 'owner' | GivenRole
  history: boolean
}

export interface InvitationRow {
  id: string
  workspace_id: string
  board_id: string | null
  email: string | null
  role: 'owner' | GivenRole
  history: boolean
  created_at: Date
  expires_at: Date
}

/** @returns the code, which cannot be read again; or the seconds until the account may invite somebody again */
export async function invite(
  tx: Transaction,
  { id, workspaceId, boardId, email, role, history }: NewInvitation,
): Promise<{ code: string } | { waitSeconds: number }> {
  const code = makeSecret()
  const { days, perHour } = limits.invitations
  const [row] = await tx<{ seconds: number }[]>`
    select invite(
      ${id}, ${workspaceId}, ${boardId}, ${email}, ${role}, ${history}, ${secretHash(code)}, ${days}, ${perHour}
    ) as seconds`
  return row!.seconds === 0 ? { code } : { waitSeconds: row!.seconds }
}

/** The invitations of a workspace that can still be accepted, newest first. @param id of one of them; null: all */
export const readInvitations = (
  tx: Transaction,
  workspaceId: string,
  { limit, offset }: Rows,
  id: string | null = null,
) => tx<InvitationRow[]>`
  select id, workspace_id, board_id, email, role, history, created_at, expires_at
  from invitations
  where workspace_id = ${workspaceId} and ended_at is null and expires_at > now() and (${id}::uuid is null or id = ${id})
  order by created_at desc, id
  limit ${limit} offset ${offset}`

/** @returns false when the workspace has no such invitation that could still be accepted */
export async function revokeInvitation(
  tx: Transaction,
  workspaceId: string,
  invitationId: string,
): Promise<boolean> {
  const [row] = await tx<{ done: boolean }[]>`
    select revoke_invitation(${workspaceId}, ${invitationId}) as done`
  return row!.done
}

/** Deletes an invitation whose mail could not be sent. It still counts for an hour, because it has ended. */
export async function withdrawInvitation(tx: Transaction, invitationId: string): Promise<void> {
  await tx`update invitations set ended_at = now() where id = ${invitationId}`
}

/** Ends earlier invitations of the same address to the same board or workspace: this one takes their place. */
export async function endEarlierInvitations(tx: Transaction, invitationId: string): Promise<void> {
  await tx`
    update invitations earlier
    set ended_at = now()
    from invitations i
    where i.id = ${invitationId} and earlier.workspace_id = i.workspace_id
      and earlier.board_id is not distinct from i.board_id and lower(earlier.email) = lower(i.email)
      and earlier.ended_at is null and (earlier.created_at, earlier.id) < (i.created_at, i.id)`
}

/** An invitation, for the person who has its code. */
export interface FoundInvitation {
  id: string
  workspaceId: string
  workspace: string
  boardId: string | null
  board: string | null
  email: string | null
  role: 'owner' | GivenRole
  history: boolean
  inviter: string | null
}

/**
 * Returns null when the invitation was used or revoked or has expired; when its workspace has another owner by now, or
 * a disabled one; and when its board is in the trash.
 *
 * @param isHeld locks the invitation until the transaction ends, so that it is accepted once
 */
export async function findInvitation(
  tx: Transaction,
  code: string,
  isHeld = false,
): Promise<FoundInvitation | null> {
  const hash = secretHash(code)
  if (!hash) return null
  const [row] = await tx<FoundInvitation[]>`
    select i.id, i.workspace_id as "workspaceId", w.name as workspace, i.board_id as "boardId", b.name as board, i.email,
      i.role, i.history, u.display_name as inviter
    from invitations i
    join workspaces w on w.id = i.workspace_id and w.owner_id = i.invited_by
    join users u on u.id = i.invited_by and u.disabled_at is null
    left join boards b on b.id = i.board_id
    where i.hash = ${hash} and i.ended_at is null and i.expires_at > now() and b.deleted_at is null
    ${isHeld ? tx`for update of i` : tx``}`
  return row ?? null
}

/** Gives the account what it is invited to. Call it with an invitation that is held. */
export async function acceptInvitation(
  tx: Transaction,
  { id, workspaceId, boardId, role, history }: FoundInvitation,
  userId: string,
): Promise<void> {
  await tx`update invitations set ended_at = now() where id = ${id}`
  const [own] = await tx`select from workspaces where id = ${workspaceId} and owner_id = ${userId}`
  if (own) return // the owner has all rights already
  if (boardId === null) await setMember(tx, { workspaceId, userId, role })
  else if (role !== 'owner') await shareBoard(tx, { boardId, userId, role, history })
}
