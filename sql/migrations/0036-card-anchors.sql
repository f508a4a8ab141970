-- What a change of a card needs besides its index row, so that the board's document need not be loaded
-- (collab/canvas/anchors.ts). A row without it is changed in the loaded document, and gets it by that.
-- Works with: 0025

alter table card_index add column anchors bytea;
alter type commit_row add attribute anchors bytea;
alter type commit_item add attribute rests_on jsonb;
