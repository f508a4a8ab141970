-- Named versions of boards.

-- The cards whose past at a position was expunged later. The past does not tell whether they were there.
create or replace function expunged_since(p_board uuid, p_position bigint) returns setof text
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select unnest(h.expunged_cards) from board_history h where h.board_id = p_board and h.to_seq >= p_position
  union
  select unnest(v.expunged_cards) from board_versions v where v.board_id = p_board and v.position >= p_position
$$;

grant execute on function expunged_since to corkboard_system;

-- Inserts a version whose file is written. Locks the board's document.
--   ok       inserted; `id` and `created_at` are set
--   missing | forbidden | trashed   refused
--   many     refused: the board has p_most versions
--   full     refused: the owner's quota of documents is full
--   guest    refused: the account is a guest and has used its share of that quota
--   late     refused: the file is being deleted, because it was written too long ago, or a card's past was expunged
-- p_room: {bytes, free, pro} as in CommitItem
create or replace function name_version(
  p_board uuid, p_name text, p_position bigint, p_at timestamptz, p_changed_at timestamptz, p_key text, p_files text[], p_room json,
  p_most integer, out outcome text, out id uuid, out created_at timestamptz
)
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  account uuid := current_user_id();
  board boards;
  owner record;
  size bigint := (p_room ->> 'bytes')::bigint;
  guest boolean;
begin
  perform lock_board(p_board);
  select b.* into board from boards b where b.id = p_board;
  if not found or board_access(account, board.id, board.workspace_id) is null then
    outcome := 'missing';
    return;
  end if;
  if board_access(account, board.id, board.workspace_id) <> 'write' or (select h.allowed from history_access(p_board) h) is not true then
    outcome := 'forbidden';
    return;
  end if;
  if board.deleted_at is not null then
    outcome := 'trashed';
    return;
  end if;
  if (select count(*) from board_versions v where v.board_id = p_board) >= p_most then
    outcome := 'many';
    return;
  end if;
  guest := board.workspace_id not in (select readable_workspaces(account));
  select r.* into owner from document_room(p_board) r;
  outcome := room_outcome(
    p_room, owner.used + size > (p_room ->> case owner.tier when 'pro' then 'pro' else 'free' end)::bigint, guest, account, board.workspace_id
  );
  if outcome <> 'ok' then
    return;
  end if;
  delete from history_leftovers l where l.key = p_key and not l.ended;
  if not found then
    outcome := 'late';
    return;
  end if;
  insert into board_versions as v (board_id, workspace_id, name, position, at, changed_at, key, bytes, created_by, expunged_cards)
  values (
    p_board, board.workspace_id, p_name, p_position, p_at, p_changed_at, p_key, size, account, array(select expunged_since(p_board, p_position))
  )
  returning v.id, v.created_at into id, created_at;
  insert into version_files (version_id, board_id, image_key)
  select name_version.id, p_board, k.key
  from unnest(p_files) as k(key)
  where exists (select from images i where i.image_key = k.key)
  on conflict do nothing;
  if guest then
    insert into guest_bytes as g (user_id, board_id, bytes) values (account, p_board, size)
    on conflict (user_id, board_id) do update set bytes = g.bytes + excluded.bytes;
  end if;
end $$;

grant execute on function name_version to corkboard_app;

-- Makes history that was written anew without a card the history of its board, and removes what else the database has of the
-- card's past. Locks the board's document.
--   ok      done
--   again   refused: the history has changed since it was read, or the new files are being deleted
-- p_keys: the files of segments and versions as they were read; p_segments: [{from_seq, row_bytes, bytes, key, base_bytes, base_key}];
-- p_versions: [{id, bytes, key, files}]; p_new: all new keys; p_files: files that the rest of the past may name
create or replace function expunge_card(
  p_board uuid, p_card text, p_seq bigint, p_keys text[], p_segments json, p_versions json, p_new text[], p_files text[]
) returns text
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  keys text[];
  fresh integer;
begin
  perform from board_documents d
  where d.board_id = p_board and d.snapshot_seq = p_seq and d.workspace_id in (select owned_workspaces(current_user_id()))
  for update;
  if not found then
    return 'again';
  end if;
  select coalesce(array_agg(f.key), '{}') into keys
  from (
    select unnest(array[h.key, h.base_key]) as key from board_history h where h.board_id = p_board
    union all
    select v.key from board_versions v where v.board_id = p_board
  ) f
  where f.key is not null;
  perform from history_leftovers l where l.key = any (p_new) and not l.ended for update;
  get diagnostics fresh = row_count;
  if not (keys @> p_keys and keys <@ p_keys) or fresh <> cardinality(p_new) then
    return 'again';
  end if;
  delete from history_leftovers where key = any (p_new);
  -- Others of this board were read from the past before this moment. So their writers must not record them.
  update history_leftovers set ended = true where key like 'history/' || p_board || '/%';
  insert into history_leftovers (key, ended) select k.key, true from unnest(keys) as k(key)
  on conflict (key) do update set ended = true;
  update board_history h
  set key = n.key, bytes = n.bytes, row_bytes = n.row_bytes, base_key = n.base_key, base_bytes = coalesce(n.base_bytes, 0)
  from json_to_recordset(p_segments) as n(from_seq bigint, key text, bytes bigint, row_bytes bigint, base_key text, base_bytes bigint)
  where h.board_id = p_board and h.from_seq = n.from_seq;
  update board_history set expunged = true, expunged_cards = expunged_cards || p_card where board_id = p_board and to_seq = p_seq;
  -- A version stays when the segments of its time have ended.
  update board_versions set expunged_cards = expunged_cards || p_card where board_id = p_board and position <= p_seq;
  update board_versions v set key = n.key, bytes = n.bytes
  from json_to_recordset(p_versions) as n(id uuid, key text, bytes bigint)
  where v.id = n.id;
  delete from version_files f
  using json_to_recordset(p_versions) as n(id uuid, files json)
  where f.version_id = n.id and f.image_key not in (select json_array_elements_text(n.files));
  -- The next scan finds again what the board's cards name now, and its other removed cards.
  delete from file_references where board_id = p_board and image_key <> all (p_files);
  delete from file_scans where board_id = p_board;
  delete from removed_cards where board_id = p_board and card_id = p_card;
  update card_index
  set title = null, body = null, group_id = null, image_key = null, file_key = null, poster_key = null, url = null, identifiers = '[]'
  where board_id = p_board and card_id = p_card and deleted_at is not null;
  delete from search_index s
  where s.board_id = p_board and s.card_id = p_card
    and not exists (select from card_index c where c.board_id = p_board and c.card_id = p_card and c.deleted_at is null);
  -- Pieces of calls that were never made. Pieces of a call that is being made are seconds old.
  delete from commit_pieces where sent_at < now() - interval '10 minutes';
  return 'ok';
end $$;

grant execute on function expunge_card to corkboard_app;
