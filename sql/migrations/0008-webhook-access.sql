-- Webhooks are for writers of their workspace; its other members may know that one is there, and are told that it is not
-- theirs to manage.
grant create on schema corkboard to corkboard_system; -- for the ownership of the function; taken back below

-- What the caller may do with a webhook: 'write', 'read' (nothing but knowing of it) or null.
create function webhook_access(webhook uuid) returns text
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select case
    when w.workspace_id in (select writable_workspaces(current_user_id())) then 'write'
    when w.workspace_id in (select readable_workspaces(current_user_id())) then 'read'
  end
  from webhooks w
  where w.id = webhook
$$;
alter function webhook_access(uuid) owner to corkboard_system;
revoke all on function webhook_access(uuid) from public;
grant execute on function webhook_access(uuid) to corkboard_app, corkboard_system;

revoke create on schema corkboard from corkboard_system;
