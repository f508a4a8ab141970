-- What commit_batch takes, item by item and row by row; see functions/commit.sql. Its JSON is read into these once.
create type commit_item as (
  n integer, b uuid, k text, o uuid, c text, u uuid, actors uuid[], pos integer, len integer,
  clock bigint, used integer, seen bigint, adds integer, top double precision
);

create type commit_row as (
  n integer, id text, gone boolean, fresh boolean, kind text, title text, body text,
  x double precision, y double precision, w double precision, h double precision, z double precision,
  rotation double precision, group_id text, image_key text, file_key text, poster_key text, url text,
  identifiers jsonb, hash text
);
