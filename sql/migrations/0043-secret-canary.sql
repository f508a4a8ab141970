-- A known text, encrypted with the SECRET_KEY that this database's secrets are encrypted with. A start with another key
-- can't open it, and stops.
create table secret_canary (
  one boolean primary key default true check (one), -- there is one row
  sealed bytea not null
);
alter table secret_canary enable row level security;
alter table secret_canary force row level security;
create policy system on secret_canary to corkboard_system using (true) with check (true);
grant select, insert on secret_canary to corkboard_system;
