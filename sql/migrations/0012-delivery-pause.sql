-- After a restore no webhook delivery is sent until an operator resumes them (sql/delivery-pause.ts).
-- Works with: 0010
create table delivery_pause (
  one boolean primary key default true check (one), -- the table has at most one row
  since timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);
alter table delivery_pause enable row level security, force row level security;
create policy system on delivery_pause to corkboard_system using (true) with check (true);
grant select, insert, delete on delivery_pause to corkboard_system;
