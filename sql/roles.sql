-- Two roles without login do all the work, whatever role owns the tables:
--   corkboard_app     a request: sees what the policies give to the user in corkboard.user_id
--   corkboard_system  the document log, the workers, and the owner of the functions that must see more than
--                     one user: the access predicates and commit_batch. It has policies of its own, no bypass.
do $$
declare
  role_name text;
begin
  foreach role_name in array array['corkboard_app', 'corkboard_system'] loop
    begin
      if not exists (select from pg_roles where rolname = role_name) then
        execute format('create role %I nologin nosuperuser nobypassrls nocreatedb nocreaterole', role_name);
      end if;
    exception when duplicate_object or unique_violation then null; -- roles are shared by all databases of a server
    end;
    if not pg_has_role(current_user, role_name, 'member') or not (select rolsuper from pg_roles where rolname = current_user) then
      begin
        execute format('grant %I to %I', role_name, current_user);
      exception when unique_violation or sqlstate 'XX000' then null; -- granted at the same moment from another database
      end;
    end if;
  end loop;
end $$;

grant usage on schema corkboard to corkboard_app, corkboard_system;
