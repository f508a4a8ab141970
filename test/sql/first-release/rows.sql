-- Rows of every table of the first release, as its service wrote them. Loaded without triggers.
create function pg_temp.id(n integer) returns uuid language sql as $$ select lpad(n::text, 32, '0')::uuid $$;

insert into users (id, email, display_name, tier) values
  (pg_temp.id(1), 'owner@example.com', 'Owner', 'pro'),
  (pg_temp.id(2), 'guest@example.com', null, 'free'),
  (pg_temp.id(3), '3@service-accounts.invalid', 'Robot', 'free');
insert into workspaces (id, name, owner_id, personal) values
  (pg_temp.id(10), 'Personal', pg_temp.id(1), true), (pg_temp.id(11), 'Film', pg_temp.id(1), false);
insert into workspace_members (workspace_id, user_id, role) values (pg_temp.id(11), pg_temp.id(3), 'editor');
insert into service_accounts (id, workspace_id, name, rate_limit) values (pg_temp.id(3), pg_temp.id(11), 'Robot', 500);
insert into passwords (user_id, phc) values (pg_temp.id(1), '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA');
insert into sessions (user_id, hash, expires_at, ip) values (pg_temp.id(1), '\x01', '2027-01-01Z', '127.0.0.1');
insert into sign_in_links (user_id, hash, expires_at) values (pg_temp.id(2), '\x02', '2027-01-01Z');
insert into sign_in_allowances (bucket, used_until) values ('\x03', '2027-01-01Z');

insert into oauth_clients (client_id, metadata) values ('client', '\x04');
insert into oauth_grants (id, key, payload, user_id, client_id, scopes, ends_at)
values (pg_temp.id(20), '\x05', '\x06', pg_temp.id(1), 'client', '{read,write}', '2027-01-01Z');
insert into oauth_artifacts (kind, key, payload, grant_id) values ('RefreshToken', '\x07', '\x08', pg_temp.id(20));
insert into tokens (id, user_id, name, prefix, hash, scopes, rate_limit, revoked_at, grant_id) values
  (pg_temp.id(21), pg_temp.id(1), 'laptop', 'cb_abc', '\x09', '{read,write,delete}', null, null, null),
  (pg_temp.id(22), pg_temp.id(1), 'client', 'cb_def', '\x0a', '{read}', 100, '2026-11-01Z', pg_temp.id(20));
insert into rate_counters (token_id) values (pg_temp.id(21));
insert into rate_leases (id, token_id, holder, permits, used, until)
values (pg_temp.id(23), pg_temp.id(21), pg_temp.id(24), 10, '{1793000000000}', 1793000060000);

insert into boards (
  id, workspace_id, parent_board_id, name, view, scheduled_date, scheduled_end, day_label, sched_status, sched_version,
  sched_published_at, props, identifiers, deleted_at, created_at, updated_at
) values
  (pg_temp.id(30), pg_temp.id(11), null, 'Day 1', 'list', '2026-12-01', '2026-12-02', 'Harbour', 'published', 2, '2026-11-01Z',
   '{"a": 1}', '[{"scope": "s", "value": "v"}]', null, '2026-11-01Z', '2026-11-02Z'),
  (pg_temp.id(31), pg_temp.id(11), pg_temp.id(30), 'Props', 'canvas', null, null, null, 'draft', 0, null, null, '[]',
   '2026-11-03Z', '2026-11-01Z', '2026-11-03Z');
insert into board_shares (board_id, user_id, role) values (pg_temp.id(30), pg_temp.id(2), 'editor');
insert into board_identifiers (workspace_id, scope, value, board_id) values (pg_temp.id(11), 's', 'v', pg_temp.id(30));

insert into board_documents (
  board_id, workspace_id, seq, api_client, api_clock, top_z, snapshot, snapshot_seq, indexed_seq, card_count, log_rows,
  log_bytes, changed_at, purging, removed_bytes
) values
  (pg_temp.id(30), pg_temp.id(11), 2, 4294967297, 7, 3, '\x0001', 1, 2, 1, 1, 5, '2026-11-02Z', false, 2),
  (pg_temp.id(31), pg_temp.id(11), 0, 4294967298, 0, 0, null, 0, 0, 0, 0, 0, '2026-11-02Z', true, 0);
insert into board_updates (board_id, seq, updates, actors, created_at)
values (pg_temp.id(30), 2, '\x0000000101', array[pg_temp.id(1)], '2026-11-02Z');
insert into removed_cards (restore_token, board_id, workspace_id, card_id, state, removed_at)
values (pg_temp.id(40), pg_temp.id(30), pg_temp.id(11), 'gone', '\x0102', '2026-11-02Z');
insert into guest_bytes (user_id, board_id, bytes) values (pg_temp.id(2), pg_temp.id(30), 3);
insert into commits (commit_id, result) values (pg_temp.id(41), '{"t": 1793000000000, "boards": null, "items": [], "times": null}');
insert into commit_pieces (commit_id, part, n, bytes) values (pg_temp.id(42), 'blob', 0, '\x01');

insert into card_index (
  board_id, card_id, workspace_id, kind, title, body, x, y, w, h, z, rotation, group_id, image_key, url, identifiers, hash,
  position, op, cause, created_at, updated_at, deleted_at, moved_from
) values
  (pg_temp.id(30), 'card', pg_temp.id(11), 'image', 'Boat', '<p>red</p>', 1.5, 2, 100, 50, 3, 90, 'group', 'key', 'https://example.com',
   '[{"scope": "s", "value": "c"}]', 'h', 2, pg_temp.id(43), 'move', '2026-11-02Z', '2026-11-02Z', null, pg_temp.id(31)),
  (pg_temp.id(30), 'gone', pg_temp.id(11), 'note', null, null, 0, 0, 1, 1, 1, 0, null, null, null, '[]', '', 2, pg_temp.id(44),
   'editor', '2026-11-02Z', '2026-11-02Z', '2026-11-02Z', null);
insert into group_index (board_id, group_id, workspace_id, name, color, shape, outline, hash, position, created_at, updated_at)
values (pg_temp.id(30), 'group', pg_temp.id(11), 'Sea', '#00f', 'rectangle', true, 'h', 2, '2026-11-02Z', '2026-11-02Z');
insert into card_identifiers (board_id, card_id, workspace_id, scope, value)
values (pg_temp.id(30), 'card', pg_temp.id(11), 's', 'c');

insert into images (image_key, workspace_id, board_id, content_type, bytes, width, height, file_name, created_by, created_at)
values ('key', pg_temp.id(11), pg_temp.id(30), 'image/png', 10, 1, 1, 'boat.png', pg_temp.id(1), '2026-11-02Z');
insert into uploads (image_key, upload_id, workspace_id, board_id, content_type, bytes, part_size, created_by, expires_at)
values ('open', 'part', pg_temp.id(11), pg_temp.id(30), 'video/mp4', 100, 50, pg_temp.id(1), '2026-11-04Z');
insert into storage_usage (workspace_id, stored, reserved) values (pg_temp.id(11), 10, 100);
insert into file_references (board_id, image_key) values (pg_temp.id(30), 'key');
insert into file_scans (board_id, position) values (pg_temp.id(30), 2);

insert into events (type, workspace_id, board_id, resource_type, resource_id, card_ids, op, origin, occurred_at)
values ('card.created', pg_temp.id(11), pg_temp.id(30), 'board', pg_temp.id(30), '{card}', pg_temp.id(43), 'api', '2026-11-02Z');
insert into webhooks (id, workspace_id, created_by, url, events, name, failures, secret)
values (pg_temp.id(50), pg_temp.id(11), pg_temp.id(1), 'https://example.com/hook', '{*}', 'Hook', 1, '\x0b');
insert into webhook_payloads (place, workspace_id, event, payload) overriding system value values
  (1, pg_temp.id(11), 'board.updated', '{"type":"board.updated"}'), (2, pg_temp.id(11), 'card.created', '{"type":"card.created"}');
insert into webhook_deliveries (
  id, place, webhook_id, workspace_id, status, attempt, next_attempt_at, fence, status_code, duration_ms, attempted_at
) values
  (pg_temp.id(51), 1, pg_temp.id(50), pg_temp.id(11), 'waiting', 1, '2026-11-02Z', 1, null, null, null),
  (pg_temp.id(52), 2, pg_temp.id(50), pg_temp.id(11), 'succeeded', 1, null, 1, 204, 3, '2026-11-02Z');
insert into webhook_attempts (
  id, delivery_id, place, webhook_id, workspace_id, attempt, attempts_left, status, status_code, duration_ms, error, attempted_at
) values (pg_temp.id(53), pg_temp.id(51), 1, pg_temp.id(50), pg_temp.id(11), 1, 5, 'failed', 500, 12, 'HTTP 500', '2026-11-02Z');
insert into notifications (user_id, workspace_id, board_id, type, data, created_at)
values (pg_temp.id(2), pg_temp.id(11), pg_temp.id(30), 'schedule.changed', '{"name": "Day 1"}', '2026-11-02Z');

insert into search_index (board_id, card_id, workspace_id, title, body, changed_at)
values (pg_temp.id(30), 'card', pg_temp.id(11), 'boat', 'red', '2026-11-02Z');
insert into search_pending (board_id, workspace_id, changed_at) values (pg_temp.id(30), pg_temp.id(11), '2026-11-02Z');
insert into search_set_aside (board_id, card_id, changed_at, error) values (pg_temp.id(30), 'gone', '2026-11-02Z', 'too long');

insert into audit_operations (
  occurred_at, action, user_id, method, path, status, workspace_id, board_id, resource_type, resource_ids, request_id, ip
) values ('2026-11-02Z', 'cards.create', pg_temp.id(1), 'POST', '/api/v1/cards', 201, pg_temp.id(11), pg_temp.id(30), 'card', '{card}', 'r', '::1');
insert into idempotency_keys (id, user_id, fingerprint, attempt, result, response, created_at)
values ('\x0c', pg_temp.id(1), '\x0d', pg_temp.id(60), '["card"]', '\x0e', '2026-11-02Z');
insert into nodes (node_id) values (pg_temp.id(61));
insert into open_boards (node_id, board_id) values (pg_temp.id(61), pg_temp.id(30));
insert into secret_canary (sealed) values ('\x0f');
