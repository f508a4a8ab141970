-- Which boards count towards the card cap of their owner, with an index of them. Most updates of a document leave the column
-- as it is, so they stay within their page and don't touch the indexes; an index on card_count itself would end that.
-- Works with: 0025

alter table board_documents add column is_counted boolean not null default false; -- the board is live and has cards
update board_documents d
set is_counted = true
from boards b
where b.id = d.board_id and b.deleted_at is null and d.card_count > 0;
create index board_documents_counted on board_documents (workspace_id) where is_counted;
create trigger board_documents_count after update of card_count on board_documents for each row
  when ((old.card_count > 0) <> (new.card_count > 0))
  execute function board_documents_count();
create trigger boards_count after update of deleted_at on boards for each row
  when ((old.deleted_at is null) <> (new.deleted_at is null))
  execute function boards_count();
