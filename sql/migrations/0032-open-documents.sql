-- The documents of all boards that one statement makes are opened at once, not row by row.
grant create on schema corkboard to corkboard_system; -- for the ownership of the function; taken back below
create or replace function boards_open_document() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  insert into board_documents (board_id, workspace_id, api_client, changed_at)
  select n.id, n.workspace_id, (2::bigint ^ 32)::bigint + 1 + floor(random() * ((2::bigint ^ 52)::bigint))::bigint, clock_timestamp()
  from new_rows n;
  return null;
end $$;
alter function boards_open_document() owner to corkboard_system;
revoke all on function boards_open_document() from public;
revoke create on schema corkboard from corkboard_system;

drop trigger boards_open_document on boards;
create trigger boards_open_document after insert on boards
  referencing new table as new_rows for each statement execute function boards_open_document();
