-- Log and mirrors are written by commit_batch alone, under the lock of the board's row: what a foreign key would look
-- up, row by row, is certain, and costs a commit of 50 boards a quarter of its time. What hung on the keys, that these
-- rows go with their board, is done here.
alter table board_updates drop constraint board_updates_board_id_fkey;
alter table card_index drop constraint card_index_board_id_fkey;
alter table group_index drop constraint group_index_board_id_fkey;
alter table removed_cards drop constraint removed_cards_board_id_fkey;

create function board_documents_drop() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  delete from board_updates where board_id in (select board_id from old_rows);
  delete from card_index where board_id in (select board_id from old_rows);
  delete from group_index where board_id in (select board_id from old_rows);
  delete from removed_cards where board_id in (select board_id from old_rows);
  return null;
end $$;
create trigger board_documents_drop after delete on board_documents
  referencing old table as old_rows for each statement execute function board_documents_drop();

grant create on schema corkboard to corkboard_system;
alter function board_documents_drop() owner to corkboard_system;
revoke all on function board_documents_drop() from public;
revoke create on schema corkboard from corkboard_system;

drop function if exists commit_batch(uuid, integer, json, bytea, json, json, json);
