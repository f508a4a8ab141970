-- The cards of an owner are counted where there is a cap to hold them against: `used` is null for a plan without one.
grant create on schema corkboard to corkboard_system; -- for the ownership of the functions; taken back below
create or replace function board_capacity(board uuid) returns table (tier text, used bigint)
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select u.tier, case u.tier when 'free' then owner_card_count(u.id) end
  from boards b
  join workspaces w on w.id = b.workspace_id
  join users u on u.id = w.owner_id
  where b.id = board and board_access(current_user_id(), b.id, b.workspace_id) is not null
$$;
alter function board_capacity(uuid) owner to corkboard_system;

create or replace function lock_board_owner(board uuid) returns table (tier text, used bigint)
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  owner uuid;
begin
  if board_access(current_user_id(), board, (select workspace_id from boards where id = board)) is distinct from 'write' then
    return;
  end if;
  select w.owner_id into owner from boards b join workspaces w on w.id = b.workspace_id where b.id = board;
  perform from users u where u.id = owner for no key update;
  return query select u.tier, case u.tier when 'free' then owner_card_count(u.id) end from users u where u.id = owner;
end $$;
alter function lock_board_owner(uuid) owner to corkboard_system;
revoke create on schema corkboard from corkboard_system;
