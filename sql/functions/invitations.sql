-- Invitations, as the owner of a workspace makes and revokes them. sql/accounts/invitations.ts finds and accepts them.

-- Returns 0 when the invitation was made; else the seconds until the caller may make another one. The check counts all
-- invitations of the caller in the last hour, with those that were accepted or revoked.
create or replace function invite(
  invitation uuid, workspace uuid, board uuid, address text, as_role text, with_history boolean, code_hash bytea,
  days integer, most_an_hour integer
) returns integer
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  earliest timestamptz;
begin
  if workspace not in (select owned_workspaces(current_user_id())) then
    raise exception 'only the owner of the workspace may invite people' using errcode = '42501';
  end if;
  perform from users u where u.id = current_user_id() for no key update; -- one invitation of an account at a time
  select i.created_at into earliest
  from invitations i
  where i.invited_by = current_user_id() and i.created_at > clock_timestamp() - interval '1 hour'
  order by i.created_at desc
  offset most_an_hour - 1 limit 1;
  if found then
    return greatest(1, ceil(extract(epoch from earliest + interval '1 hour' - clock_timestamp())))::integer;
  end if;
  insert into invitations (id, workspace_id, board_id, email, role, history, hash, invited_by, expires_at)
  values (
    invitation, workspace, board, address, as_role, with_history, code_hash, current_user_id(),
    date_trunc('milliseconds', clock_timestamp()) + days * interval '1 day'
  );
  return 0;
end $$;

-- False when the workspace has no such invitation that could still be accepted.
create or replace function revoke_invitation(workspace uuid, invitation uuid) returns boolean
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if workspace not in (select owned_workspaces(current_user_id())) then
    raise exception 'only the owner of the workspace may revoke invitations' using errcode = '42501';
  end if;
  update invitations i
  set ended_at = date_trunc('milliseconds', clock_timestamp())
  where i.id = invitation and i.workspace_id = workspace and i.ended_at is null and i.expires_at > clock_timestamp();
  return found;
end $$;

grant execute on function invite, revoke_invitation to corkboard_app;
