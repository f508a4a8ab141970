-- Cards whose past was expunged, with the newest segment of that time. To a moment before, a restore leaves them as they
-- are. functions/versions.sql writes it.
-- Works with: 0017

alter table board_history add column expunged_cards text[] not null default '{}';
