-- Storage of documents: what an account's boards take in the database, charged to the owner of their workspace.
grant create on schema corkboard to corkboard_system; -- for the ownership of functions; taken back below

alter table board_documents add column removed_bytes bigint not null default 0; -- of removed_cards; kept by triggers
update board_documents d
set removed_bytes = r.bytes
from (select board_id, sum(octet_length(state)) as bytes from removed_cards group by board_id) r
where d.board_id = r.board_id;
create index board_documents_workspace on board_documents (workspace_id);

-- What writers who are not members of the workspace have added to a board. When the board gets smaller, each guest's
-- part gets smaller in proportion, so that the parts together never exceed the board's size.
-- No foreign keys, like the log: commit_batch writes it under the lock of the board's row.
create table guest_bytes (
  user_id uuid not null,
  board_id uuid not null,
  bytes bigint not null,
  primary key (user_id, board_id)
);
create index guest_bytes_board on guest_bytes (board_id);
alter table guest_bytes enable row level security;
alter table guest_bytes force row level security;
create policy system on guest_bytes to corkboard_system using (true) with check (true);
grant select, insert, update, delete on guest_bytes to corkboard_system;

create or replace function board_documents_drop() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  delete from board_updates where board_id in (select board_id from old_rows);
  delete from card_index where board_id in (select board_id from old_rows);
  delete from group_index where board_id in (select board_id from old_rows);
  delete from removed_cards where board_id in (select board_id from old_rows);
  delete from guest_bytes where board_id in (select board_id from old_rows);
  return null;
end $$;

create function removed_cards_size() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
declare
  r record;
begin
  if tg_op = 'INSERT' then
    update board_documents d
    set removed_bytes = d.removed_bytes + n.bytes
    from (select board_id, sum(octet_length(state)) as bytes from new_rows group by board_id) n
    where d.board_id = n.board_id;
  else
    for r in select board_id, sum(octet_length(state))::bigint as bytes from old_rows group by board_id order by board_id loop
      update board_documents set removed_bytes = removed_bytes - r.bytes where board_id = r.board_id;
      perform shrink_guest_bytes(r.board_id, r.bytes);
    end loop;
  end if;
  return null;
end $$;
alter function removed_cards_size() owner to corkboard_system;
revoke all on function removed_cards_size() from public;
create trigger removed_cards_size_insert after insert on removed_cards
  referencing new table as new_rows for each statement execute function removed_cards_size();
create trigger removed_cards_size_delete after delete on removed_cards
  referencing old table as old_rows for each statement execute function removed_cards_size();

alter type commit_item add attribute room json;     -- of a write that adds: see functions/commit.sql
alter type commit_item add attribute is_full boolean;
alter type commit_item add attribute guests json;

revoke create on schema corkboard from corkboard_system;
