-- Requests of the last hour per token, over all processes. A process takes a lease of some requests, and writes the times
-- of those that it let through when it takes the next one; what a lease may still let through counts as let through.
create table rate_counters (
  token_id uuid primary key references tokens on delete cascade -- its row is the lock
);

create table rate_leases (
  id uuid primary key,
  token_id uuid not null references rate_counters on delete cascade,
  holder uuid not null,                 -- the part of a process that knows what it has let through itself
  permits integer not null,
  used bigint[] not null default '{}',  -- times, milliseconds since 1970, ascending
  until bigint not null,                -- nothing is let through under it any more from then on; settled: its last time
  settled boolean not null default false
);
create index rate_leases_token on rate_leases (token_id, until);
create index rate_leases_age on rate_leases (until);

do $$
declare
  t text;
begin
  foreach t in array array['rate_counters', 'rate_leases'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy system on %I to corkboard_system using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %I to corkboard_system', t);
  end loop;
end $$;
