/**
 * Deletes a workspace with everything in it, while the service runs. First all others lose their access. Then boards,
 * files and events are deleted, in many short transactions. If the process ends between them, the next call goes on.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { storedKeysOf } from '../../core/file.ts'
import { deleteInBatches } from '../in-batches.ts'
import { removeLeftovers } from './history.ts'
import { endUploads, type FileParts } from './end-uploads.ts'
import { purgeBoard } from './purge.ts'

/** Boards are purged whenever they were deleted. */
const anyTime = new Date('9999-01-01T00:00:00Z')
const retryMs = 100
const filesAtOnce = 100
const rowsAtOnce = 1000

export async function deleteWorkspace(parts: FileParts, workspaceId: string): Promise<void> {
  const { database } = parts
  await endAccess(parts, workspaceId)
  await deleteBoards(parts, workspaceId)
  await deleteFiles(parts, workspaceId)
  await removeLeftovers(parts)
  for (const table of ['events', 'webhook_payloads', 'event_journal', 'search_index'])
    await deleteInBatches(database, rowsAtOnce, table, (tx) => tx`workspace_id = ${workspaceId}`)
  await database.asSystem((tx) => tx`delete from workspaces where id = ${workspaceId}`, 'background')
}

/** Deletes webhooks first, so that they are not told of the deletion. */
async function endAccess({ database }: FileParts, workspaceId: string): Promise<void> {
  await database.asSystem(async (tx) => {
    await tx`delete from webhooks where workspace_id = ${workspaceId}`
    await tx`
      delete from users where id in (
        select id from service_accounts where workspace_id = ${workspaceId}
        union all
        select id from session_users where workspace_id = ${workspaceId}
      )`
    await tx`delete from workspace_members where workspace_id = ${workspaceId}`
    await tx`
      delete from board_links
      where board_id in (select id from boards where workspace_id = ${workspaceId})`
    await tx`
      delete from board_shares
      where board_id in (select id from boards where workspace_id = ${workspaceId})`
  }, 'background')
}

async function deleteBoards({ database }: FileParts, workspaceId: string): Promise<void> {
  for (;;) {
    const [board] = await database.asSystem(
      (tx) => tx<{ id: string }[]>`select id from boards where workspace_id = ${workspaceId} limit 1`,
    )
    if (!board) return
    await database.asSystem(async (tx) => {
      await tx`select from board_documents where board_id = ${board.id} for update` // as every writer of a board does first
      await tx`update boards set deleted_at = now() where id = ${board.id} and deleted_at is null`
    }, 'background')
    // Every node closes the board's sockets when it next checks their access.
    const isPurged = await purgeBoard({ database, closeBoard: () => undefined }, board.id, anyTime)
    if (!isPurged) await delay(retryMs)
  }
}

async function deleteFiles(parts: FileParts, workspaceId: string): Promise<void> {
  const { database, files } = parts
  await database.asSystem(async (tx) => {
    await tx`delete from uploads where workspace_id = ${workspaceId} and state = 'stored'`
    await tx`update uploads set state = 'ending' where workspace_id = ${workspaceId}`
    await tx`update images set condemned_at = now() where workspace_id = ${workspaceId}`
  }, 'background')
  await endUploads(parts)
  for (;;) {
    const rows = await database.asSystem(
      (tx) => tx<{ key: string; shared: boolean }[]>`
        select i.image_key as key, exists (
          select from images o where o.image_key = i.image_key and o.workspace_id <> i.workspace_id
        ) as shared
        from images i
        where i.workspace_id = ${workspaceId}
        limit ${filesAtOnce}`,
    )
    if (rows.length === 0) return
    await files.remove(rows.filter(({ shared }) => !shared).flatMap(({ key }) => storedKeysOf(key)))
    await database.asSystem(
      (tx) => tx`
        delete from images
        where workspace_id = ${workspaceId} and image_key = any (${rows.map(({ key }) => key)}::text[])`,
    )
  }
}
