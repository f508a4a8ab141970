/**
 * Appends events to the journal, which `GET /events` reads.
 *
 * The fan-out does it for a whole batch, in the transaction that takes the events out of the outbox. So an event is in the
 * journal exactly when its change happened. A trigger on the outbox could append in the change's own transaction, but then
 * each request would pay for it: TODO
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
