-- Large commits in pieces. The caller would encode a single large statement in one long synchronous step.

-- Stores a piece until its commit. The first piece of a commit also deletes old pieces of calls that were never made.
create or replace function stage_commit_piece(p_commit uuid, p_part text, p_n integer, p_bytes bytea) returns void
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if p_part = 'blob' and p_n = 0 then
    delete from commit_pieces where sent_at < now() - interval '1 hour';
  end if;
  insert into commit_pieces (commit_id, part, n, bytes) values (p_commit, p_part, p_n, p_bytes) on conflict do nothing;
end $$;

-- Calls commit_batch with the stored pieces.
create or replace function commit_staged(p_commit uuid, p_again boolean, p_free_cap integer, p_items json, p_pieces integer) returns json
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  blob bytea;
  card_rows json;
  group_rows json;
  removed json;
  pieces integer;
begin
  select count(*),
    coalesce(string_agg(p.bytes, ''::bytea order by p.n) filter (where p.part = 'blob'), ''),
    convert_from(string_agg(p.bytes, ''::bytea order by p.n) filter (where p.part = 'rows'), 'UTF8'),
    convert_from(string_agg(p.bytes, ''::bytea order by p.n) filter (where p.part = 'groups'), 'UTF8'),
    convert_from(string_agg(p.bytes, ''::bytea order by p.n) filter (where p.part = 'removed'), 'UTF8')
  into pieces, blob, card_rows, group_rows, removed
  from commit_pieces p
  where p.commit_id = p_commit;
  delete from commit_pieces where commit_id = p_commit;
  -- If the commit was already made, its result needs no pieces.
  if pieces <> p_pieces and not exists (select from commits c where c.commit_id = p_commit) then
    raise exception 'some pieces of this commit are missing' using errcode = '40001', hint = 'Send them again.';
  end if;
  return commit_batch(p_commit, p_again, p_free_cap, p_items, blob, card_rows, group_rows, removed);
end $$;

-- Returns the bytes whose pieces were stored as part 'blob', and deletes the pieces.
create or replace function take_staged_bytes(p_id uuid, p_pieces integer) returns bytea
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  blob bytea;
  pieces integer;
begin
  select count(*), string_agg(p.bytes, ''::bytea order by p.n) into pieces, blob
  from commit_pieces p
  where p.commit_id = p_id and p.part = 'blob';
  if pieces <> p_pieces then
    raise exception 'some pieces of these bytes are missing' using errcode = '40001', hint = 'Send them again.';
  end if;
  delete from commit_pieces where commit_id = p_id;
  return blob;
end $$;

grant execute on function stage_commit_piece, commit_staged, take_staged_bytes to corkboard_app;
