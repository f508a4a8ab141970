-- Two roles without login do all the work, whatever role owns the tables:
--   corkboard_app     a request: sees the rows that the policies allow the user in corkboard.user_id
--   corkboard_system  the document log and the workers. It owns the functions that must see more than one user's rows,
--                     such as the access predicates and commit_batch. It has its own policies and doesn't bypass security.
do $$
declare
  role_name text;
begin
  foreach role_name in array array['corkboard_app', 'corkboard_system'] loop
    begin
      if not exists (select from pg_roles where rolname = role_name) then
        execute format('create role %I nologin nosuperuser nobypassrls nocreatedb nocreaterole', role_name);
      end if;
    exception when duplicate_object or unique_violation then null; -- all databases of a server share its roles
    end;
    if not pg_has_role(current_user, role_name, 'member') or not (select rolsuper from pg_roles where rolname = current_user) then
      begin
        execute format('grant %I to %I', role_name, current_user);
      exception when unique_violation or sqlstate 'XX000' then null; -- another database granted it at the same moment
      end;
    end if;
  end loop;
end $$;

grant usage on schema corkboard to corkboard_app, corkboard_system;
