/**
 * Appends events to the journal, which `GET /events` reads.
 *
 * The fan-out appends a whole batch, in the transaction that takes the events out of the outbox. So each event gets into
 * the journal exactly once, merged as webhooks get it. A trigger on the outbox would append in the transaction of the
 * change, and each request would wait for it: inserting an event then takes 0.068 instead of 0.026 ms of the server.
 * Both ways write 430 bytes of WAL for an event of a request. For edits a trigger writes a row for each flush.
 */
import { payloadText, type ServiceEvent } from '../../core/events.ts'
import type { Transaction } from '../../sql/database.ts'

/** Call it last in the transaction: `stamp()` holds back the readers of all feeds until the commit. */
export async function appendToJournal(tx: Transaction, events: ServiceEvent[]): Promise<void> {
  await tx`
    insert into event_journal (at, workspace_id, board_id, type, payload)
    select s.at, e.workspace_id, e.board_id, e.type, e.payload
    from (select stamp() as at offset 0) s
    cross join unnest(
      ${events.map(({ workspaceId }) => workspaceId)}::uuid[],
      ${events.map(({ boardId }) => boardId)}::uuid[],
      ${events.map(({ type }) => type)}::text[],
      ${events.map(payloadText)}::text[]
    ) with ordinality as e(workspace_id, board_id, type, payload, nth)
    order by e.nth`
}
