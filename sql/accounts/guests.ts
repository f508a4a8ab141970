/**
 * Writes guest links and guests. The owner of a workspace makes and ends links to its boards, `asUser`. Whoever has the
 * secret of a link finds it and comes in, `asSystem`. A guest is an account of its own with one token; what it may do
 * follows from its link (functions/access.sql).
 */
import { randomUUID } from 'node:crypto'
import { limits } from '../../core/limits.ts'
import { endsTokens, type Transaction } from '../database.ts'
import type { GivenRole, Rows } from './people.ts'
import { makeSecret, secretHash } from './sessions.ts'
import { mintToken } from './tokens.ts'

export interface NewBoardLink {
  id: string
  boardId: string
  name: string | null
  role: GivenRole
  /** Hash of the password. Null: the link needs none. */
  phc: string | null
  history: boolean
  expiresAt: Date | null
}

export interface BoardLinkRow {
  id: string
  board_id: string
  name: string | null
  role: GivenRole
  has_password: boolean
  /** From when on guests see the board's history. Null: they do not see it. */
  history_since: Date | null
  created_at: Date
  expires_at: Date | null
  uses: number
  last_used_at: Date | null
}

/** @returns the secret, which cannot be read again */
export async function createBoardLink(
  tx: Transaction,
  { id, boardId, name, role, phc, history, expiresAt }: NewBoardLink,
): Promise<string> {
  const secret = makeSecret()
  await tx`
    select create_board_link(
      ${id}, ${boardId}, ${name}, ${role}, ${secretHash(secret)}, ${phc}, ${history}, ${expiresAt}
    )`
  return secret
}

/** The links of a board that the owner has not deleted, oldest first. @param id of one of them; null: all */
export const readBoardLinks = (
  tx: Transaction,
  boardId: string,
  { limit, offset }: Rows,
  id: string | null = null,
) => tx<BoardLinkRow[]>`
  select id, board_id, name, role, has_password, history_since, created_at, expires_at, uses, last_used_at
  from board_links
  where board_id = ${boardId} and ended_at is null and (${id}::uuid is null or id = ${id})
  order by created_at, id
  limit ${limit} offset ${offset}`

export async function countBoardLinks(tx: Transaction, boardId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::integer as count from board_links where board_id = ${boardId} and ended_at is null`
  return row!.count
}

/** Ends a link: its guests are out within two seconds. @returns false when the board has no such link */
export async function endBoardLink(tx: Transaction, boardId: string, linkId: string): Promise<boolean> {
  endsTokens(tx)
  const [row] = await tx<{ done: boolean }[]>`select end_board_link(${boardId}, ${linkId}) as done`
  return row!.done
}

export interface OpenBoardLink {
  id: string
  boardId: string
  role: GivenRole
  phc: string | null
}

/** Returns null when there is no such link, it has ended or expired, or its board is in the trash. */
export async function findBoardLink(tx: Transaction, secret: string): Promise<OpenBoardLink | null> {
  const hash = secretHash(secret)
  const [row] = await tx<OpenBoardLink[]>`
    select l.id, l.board_id as "boardId", l.role, l.phc
    from board_links l
    join boards b on b.id = l.board_id and b.deleted_at is null
    where l.hash = ${hash} and l.ended_at is null and (l.expires_at is null or l.expires_at > now())`
  return row ?? null
}

/** Whether the account is that of a guest who came by a link. */
export async function isGuest(tx: Transaction, userId: string): Promise<boolean> {
  return (await tx`select from guests where id = ${userId}`).length > 0
}

export interface NewGuest {
  userId: string
  token: string
  expiresAt: Date
}

/** @returns null when the link has ended meanwhile */
export async function addGuest(
  tx: Transaction,
  { id, role }: OpenBoardLink,
  name: string,
): Promise<NewGuest | null> {
  const [link] = await tx<{ ends: Date }[]>`
    update board_links l
    set uses = l.uses + 1, last_used_at = date_trunc('milliseconds', clock_timestamp())
    where l.id = ${id} and l.ended_at is null and (l.expires_at is null or l.expires_at > now())
    returning date_trunc('milliseconds', least(now() + ${limits.guests.tokenHours} * interval '1 hour', l.expires_at)) as ends`
  if (!link) return null
  const userId = randomUUID()
  // No mail can reach this address, because the domain `invalid` is reserved (RFC 2606).
  await tx`
    insert into users (id, email, display_name) values (${userId}, ${`${userId}@guests.invalid`}, ${name})`
  await tx`insert into guests (id, link_id, ends_at) values (${userId}, ${id}, ${link.ends})`
  const scopes = role === 'editor' ? (['read', 'write'] as const) : (['read'] as const)
  const { token, tokenId } = await mintToken(tx, { userId, name: 'guest link', scopes: [...scopes] })
  await tx`update tokens set expires_at = ${link.ends} where id = ${tokenId}`
  return { userId, token, expiresAt: link.ends }
}
