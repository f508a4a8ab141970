import type { Command } from 'commander'
import { feedLagMs } from '../../sql/boards/feeds.ts'
import type { Transaction } from '../../sql/database.ts'
import { readApplied, schemaFiles } from '../../sql/migrate.ts'
import { newestMigration } from '../../sql/schema-range.ts'
import { version } from '../version.ts'
import { showCommand } from './command.ts'
import { withDatabase } from './database.ts'

export function statusCommand(program: Command): void {
  showCommand(program, {
    name: 'status',
    description:
      'Shows the version, the schema, the processes that serve, how far the feeds are behind, the queues, and sizes.',
    examples: ['status', 'status --json'],
    run: () =>
      withDatabase((database) =>
        database.asSystem(async (tx) => ({
          version,
          schema: {
            database: newestMigration(await readApplied(tx)),
            code: newestMigration(await schemaFiles()),
          },
          feed_lag_ms: await feedLagMs(tx),
          queues: await readQueues(tx),
          counts: await readCounts(tx),
          database: await readDatabase(tx),
          nodes: await readNodes(tx),
          tables: await readTables(tx),
        })),
      ),
  })
}

/** Ages are those of the oldest entry, in seconds. Null: the queue is empty. */
async function readQueues(tx: Transaction) {
  const [row] = await tx`
    select
      (select count(*)::integer from events) as outbox,
      (select round(extract(epoch from now() - min(occurred_at)))::integer from events) as outbox_age_s,
      (select count(*)::integer from webhook_deliveries where status = 'waiting') as deliveries_waiting,
      (select count(*)::integer from webhook_deliveries where status = 'waiting' and next_attempt_at <= now()) as deliveries_due,
      (select round(extract(epoch from now() - min(next_attempt_at)))::integer
        from webhook_deliveries where status = 'waiting' and next_attempt_at <= now()) as deliveries_age_s,
      (select count(*)::integer from webhook_deliveries where status = 'sending') as deliveries_sending,
      (select count(*)::integer from search_pending) as search_pending,
      (select count(*)::integer from search_set_aside) as search_set_aside,
      (select count(*)::integer from board_documents where indexed_seq < seq) as boards_to_index,
      (select count(*)::integer from uploads where state <> 'stored') as uploads_open`
  return { ...row }
}

async function readCounts(tx: Transaction) {
  const [row] = await tx`
    select
      (select count(*)::integer from users u
        where not exists (select from service_accounts s where s.id = u.id)
          and not exists (select from guests g where g.id = u.id)
          and not exists (select from session_users s where s.id = u.id)
      ) as accounts,
      (select count(*)::integer from session_users where live_until > now()) as session_users,
      (select count(*)::integer from service_accounts where retired_at is null) as service_accounts,
      (select count(*)::integer from workspaces) as workspaces,
      (select count(*)::integer from boards where deleted_at is null) as boards,
      (select count(*)::integer from boards where deleted_at is not null) as boards_in_trash,
      (select coalesce(sum(card_count), 0)::bigint from board_documents) as cards,
      (select count(*)::integer from webhooks where active) as active_webhooks,
      (select count(distinct image_key)::integer from images) as files,
      (select coalesce(sum(stored), 0)::bigint from storage_usage) as file_bytes`
  return { ...row }
}

async function readDatabase(tx: Transaction) {
  const [row] = await tx`
    select current_setting('server_version') as postgresql, pg_database_size(current_database()) as bytes,
      (select count(*)::integer from pg_stat_activity where datname = current_database()) as connections,
      current_setting('max_connections')::integer as max_connections`
  return { ...row }
}

const readNodes = (tx: Transaction) => tx`
  select n.node_id, n.lock_number is null or node_lock_is_held(n.lock_number) as alive, n.seen_at,
    (select count(*)::integer from open_boards o where o.node_id = n.node_id) as open_boards
  from nodes n
  order by n.node_id`

/** The ten largest tables, with their indexes. */
const readTables = (tx: Transaction) => tx`
  select c.relname as name, pg_total_relation_size(c.oid) as bytes
  from pg_class c
  where c.relnamespace = 'corkboard'::regnamespace and c.relkind = 'r'
  order by 2 desc
  limit 10`
