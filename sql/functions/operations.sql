-- The record of a request, written in the transactions of its work. sql/operation.ts describes the fields of an operation.

-- p_records: [{operation, account, board, workspace, made: [id]}]
-- An account that was erased meanwhile leaves its id only.
create or replace function record_operations(p_records json, p_at timestamptz) returns void
language plpgsql volatile security definer set search_path = corkboard, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  insert into audit_operations (
    occurred_at, action, user_id, display_name, token_id, service_account_id, client_id, method, path, status,
    workspace_id, board_id, resource_type, resource_ids, request_id, ip
  )
  select p_at, o.action, v.account, case when u.id is not null then o.display_name end, o.token_id, o.service_account_id, o.client_id,
    o.method, o.path, o.status, e.workspace, e.board, e.type, e.ids, o.request_id, case when u.id is not null then o.ip else '' end
  from json_to_recordset(p_records) as v(operation json, account uuid, board uuid, workspace uuid)
  cross join lateral json_to_record(v.operation) as o(
    action text, display_name text, token_id uuid, service_account_id uuid, client_id text, method text, path text,
    status integer, request_id text, ip text, resources json
  )
  left join users u on u.id = v.account
  cross join lateral (
    select n.workspace, n.board, n.type, array_agg(n.id order by n.place) as ids
    from (
      select
        coalesce(
          t.workspace, v.workspace,
          (select b.workspace_id from boards b where b.id = coalesce(t.board, v.board, case t.type when 'board' then i.id::uuid end)),
          case t.type
            when 'webhook' then (select h.workspace_id from webhooks h where h.id = i.id::uuid)
            when 'service_account' then (select s.workspace_id from service_accounts s where s.id = i.id::uuid)
          end
        ) as workspace,
        case t.type when 'board' then null else coalesce(t.board, v.board) end as board, t.type, coalesce(i.id, v.board::text) as id,
        row_number() over () as place
      from json_to_recordset(o.resources) as t(type text, ids json, board uuid, workspace uuid)
      cross join lateral json_array_elements_text(t.ids) as i(id)
    ) n
    group by n.workspace, n.board, n.type, (n.place - 1) / 1000
  ) e;

  if exists (select from json_to_recordset(p_records) as v(operation json) where v.operation ->> 'key' is not null) then
    perform keep_results(p_records);
  end if;
end $$;

-- Stores what the requests with an idempotency key made. p_records as for record_operations.
create or replace function keep_results(p_records json) returns void
language plpgsql volatile security definer set search_path = corkboard, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  r record;
begin
  for r in
    select v.account, k.*, coalesce(v.made, '[]') as result
    from json_to_recordset(p_records) as v(operation json, account uuid, made jsonb)
    cross join lateral json_to_record(v.operation -> 'key') as k(id text, fingerprint text, attempt uuid, created_at timestamptz)
    where v.operation ->> 'key' is not null
  loop
    insert into idempotency_keys as k (id, user_id, fingerprint, attempt, result, created_at)
    values (decode(r.id, 'hex'), r.account, decode(r.fingerprint, 'hex'), r.attempt, r.result, r.created_at)
    on conflict (id) do update set result = k.result || excluded.result where k.attempt = excluded.attempt;
    if not found then
      raise exception 'this idempotency key belongs to another attempt' using errcode = 'CB409';
    end if;
  end loop;
end $$;

-- Writes the audit entries of a commit's writes as record_operations does. Each operation names one resource, which is the
-- board or on it. As one JSON text of all records it took twice as long.
create or replace function audit_writes(
  p_operations json[], p_accounts uuid[], p_boards uuid[], p_workspaces uuid[], p_at timestamptz
) returns void
language plpgsql volatile security definer set search_path = corkboard, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  insert into audit_operations (
    occurred_at, action, user_id, display_name, token_id, service_account_id, client_id, method, path, status,
    workspace_id, board_id, resource_type, resource_ids, request_id, ip
  )
  select p_at, o.action, i.account, case when u.id is not null then o.display_name end, o.token_id, o.service_account_id, o.client_id,
    o.method, o.path, o.status, i.workspace,
    case when o.type <> 'board' then coalesce(o.board, i.board) end, o.type, array[coalesce(o.id, i.board::text)],
    o.request_id, case when u.id is not null then o.ip else '' end
  from unnest(p_operations, p_accounts, p_boards, p_workspaces) as i(operation, account, board, workspace)
  cross join lateral (
    select r.*, i.operation #>> '{resources,0,type}' as type, (i.operation #>> '{resources,0,board}')::uuid as board,
      i.operation #>> '{resources,0,ids,0}' as id
    from json_to_record(i.operation) as r(
      action text, display_name text, token_id uuid, service_account_id uuid, client_id text, method text, path text,
      status integer, request_id text, ip text
    )
    offset 0
  ) o
  left join users u on u.id = i.account;
end $$;

-- Stores the record of a request's transaction. Returns false, and stores nothing, when the transaction has written nothing.
create or replace function record_operation(p_operation json, p_result json) returns boolean
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if pg_current_xact_id_if_assigned() is null then
    return false;
  end if;
  perform record_operations(
    json_build_array(json_build_object('operation', p_operation, 'account', current_user_id(), 'made', p_result)), stamp()
  );
  return true;
end $$;

grant execute on function record_operation to corkboard_app;
