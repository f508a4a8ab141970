-- Cards whose past was expunged after a version: its file lacks them, and a restore to it leaves them as they are.
-- functions/versions.sql writes it.
-- Works with: 0025

alter table board_versions add column expunged_cards text[] not null default '{}';
