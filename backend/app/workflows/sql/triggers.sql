-- name: list_due
-- $1 most rows. Workers may see the same rows: each of them moves on by compare-and-set.
select t.workflow_id, t.node_id, t.owner_id, t.config::text as config, t.is_armed, t.next_at, now() as now,
  w.version, v.document::text as document
from workflow_triggers t
join workflows w on w.id = t.workflow_id
join workflow_versions v on v.workflow_id = w.id and v.n = w.version
join users u on u.id = t.owner_id and u.disabled_at is null
where t.next_at <= now()
order by t.next_at
limit $1

-- name: move
-- $3 the time that was read, $4 the next tick
update workflow_triggers set next_at = $4, is_armed = true
where workflow_id = $1 and node_id = $2 and next_at = $3
returning true as is_moved

-- name: fire
-- $3 the time that was read, $4 the next tick, $5 tick, $6 version, $7 session, $8 goal, $9 preferences, $10 datasets,
-- $11 seed, $12 most live runs of a workflow. The tick moves and its session begins in one statement: neither is lost
-- or repeated, whatever dies.
with moved as (
  update workflow_triggers t set next_at = $4, last_tick = $5
  from workflows w
  where t.workflow_id = $1 and t.node_id = $2 and t.next_at = $3 and t.is_armed and w.id = t.workflow_id
    and w.version = $6
  returning t.owner_id
), s as (
  insert into sessions (id, owner_id, graph, class, goal, preferences, dataset_ids, seed)
  select $7::uuid, owner_id, 'workflow', 'run', $8::text, $9::jsonb, $10::uuid[], $11::bigint from moved
  where (select count(*) from (
    select from sessions where owner_id = moved.owner_id and graph = 'workflow' and ended_at is null
      and preferences #>> '{workflow,id}' = $1::text limit $12::int) as few) < $12::int
  on conflict do nothing
  returning id, owner_id
), message as (
  insert into messages (session_id, seq, n, role, text) select id, 0, 1, 'user', $8::text from s
), trail as (
  insert into audit (owner_id, session_id, actor, action, detail)
  select m.owner_id, s.id, 'service', case when s.id is null then 'workflow_tick_skipped' else 'session_created' end,
    jsonb_build_object('workflow', $1::uuid, 'trigger', $2::text, 'tick', $5::timestamptz)
  from moved m left join s on true
)
select owner_id, (select id from s) as session_id from moved

-- name: list_triggers
select node_id, config::text as config, case when is_armed then next_at end as next_at, last_tick
from workflow_triggers where workflow_id = $1 and owner_id = $2 order by node_id

-- name: list_next_ticks
-- $1 owner, $2 workflows. `new_configs`: of triggers that no sweep has read yet.
select workflow_id, min(next_at) filter (where is_armed) as next_at,
  coalesce(json_agg(config) filter (where not is_armed), '[]')::text as new_configs
from workflow_triggers
where owner_id = $1 and workflow_id = any($2::uuid[]) and next_at is not null
group by workflow_id

-- name: list_firings
-- $1 most rows, $2 most live runs of a workflow. New datasets whose runs have not begun, the oldest first; of each
-- workflow as many as may begin now, since those that wait for its runs to end would keep others out. `cause`: the
-- workflow whose run stored the dataset, which its idempotency key names, and `chain` what led to that run.
select f.workflow_id, f.node_id, f.dataset_id, t.owner_id, t.config::text as config, w.version,
  v.document::text as document, coalesce(p.preferences -> 'chain', '[]')::text as chain,
  case when p.id is not null then coalesce(pw.name, 'a deleted workflow') end as cause
from (select distinct workflow_id from workflow_firings) as waiting
join workflows w on w.id = waiting.workflow_id
cross join lateral (
  select count(*) as n from (
    select from sessions where owner_id = w.owner_id and graph = 'workflow' and ended_at is null
      and preferences #>> '{workflow,id}' = w.id::text limit $2::int) as few
) as live
cross join lateral (
  select * from workflow_firings where workflow_id = w.id order by created_at, dataset_id limit $2::int - live.n
) as f
join datasets d on d.id = f.dataset_id
join workflow_triggers t on t.workflow_id = f.workflow_id and t.node_id = f.node_id
join workflow_versions v on v.workflow_id = w.id and v.n = w.version
join users u on u.id = t.owner_id and u.disabled_at is null
left join sessions p on p.owner_id = t.owner_id and p.graph = 'workflow' and p.id = substring(d.idempotency_key
  from '^workflow ([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}):')::uuid
left join workflows pw on pw.id::text = p.preferences #>> '{workflow,id}'
order by f.created_at, f.dataset_id
limit $1

-- name: fire_dataset
-- $3 dataset, $4 version, $5 session, $6 goal, $7 preferences, $8 datasets, $9 seed, $10 most live runs of a workflow.
-- The firing goes and its session begins in one statement. Above the limit it waits.
with place as (
  select f.ctid, t.owner_id from workflow_firings f
  join workflow_triggers t on t.workflow_id = f.workflow_id and t.node_id = f.node_id
  join workflows w on w.id = f.workflow_id and w.version = $4
  where f.workflow_id = $1 and f.node_id = $2 and f.dataset_id = $3
    and (select count(*) from (
      select from sessions where owner_id = t.owner_id and graph = 'workflow' and ended_at is null
        and preferences #>> '{workflow,id}' = $1::text limit $10::int) as few) < $10::int
), gone as (
  delete from workflow_firings f using place where f.ctid = place.ctid returning place.owner_id
), s as (
  insert into sessions (id, owner_id, graph, class, goal, preferences, dataset_ids, seed)
  select $5::uuid, owner_id, 'workflow', 'run', $6::text, $7::jsonb, $8::uuid[], $9::bigint from gone
  on conflict do nothing
  returning id, owner_id
), message as (
  insert into messages (session_id, seq, n, role, text) select id, 0, 1, 'user', $6::text from s
), trail as (
  insert into audit (owner_id, session_id, actor, action, detail)
  select owner_id, id, 'service', 'session_created',
    jsonb_build_object('workflow', $1::uuid, 'trigger', $2::text, 'dataset', $3::uuid)
  from s
)
select id from s

-- name: drop_firing
delete from workflow_firings where workflow_id = $1 and node_id = $2 and dataset_id = $3 returning true as is_dropped

-- name: set_token
-- $4 digest; null revokes the token.
with changed as (
  update workflow_triggers set token_digest = $4
  where workflow_id = $1 and node_id = $2 and owner_id = $3 and config ->> 'kind' = 'webhook' returning workflow_id
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select $3, 'user', case when $4::text is null then 'webhook_token_revoked' else 'webhook_token_made' end,
    jsonb_build_object('workflow', workflow_id, 'trigger', $2::text)
  from changed
)
select workflow_id from changed

-- name: find_hook
select t.workflow_id, t.node_id, t.owner_id, t.config::text as config, w.version, v.document::text as document
from workflow_triggers t
join workflows w on w.id = t.workflow_id
join workflow_versions v on v.workflow_id = w.id and v.n = w.version
join users u on u.id = t.owner_id and u.disabled_at is null
where t.token_digest = $1 and t.config ->> 'kind' = 'webhook'
  and coalesce(t.config ->> 'enabled', 'true') = 'true'

-- name: find_hooked_run
-- $3 payload. No row: no call has begun the run.
select coalesce(preferences -> 'payload' = $3::jsonb, false) as is_same from sessions where id = $1 and owner_id = $2

-- name: count_live_runs
select count(*) from (
  select from sessions where owner_id = $1 and graph = 'workflow' and ended_at is null
    and preferences #>> '{workflow,id}' = $2::text limit $3::int) as few

-- name: find_caller
-- $1 run that called a webhook: its workflow, and what led to it.
select s.owner_id, coalesce(w.name, 'a deleted workflow') as name, coalesce(s.preferences -> 'chain', '[]')::text as chain
from sessions s left join workflows w on w.id = (s.preferences #>> '{workflow,id}')::uuid
where s.id = $1 and s.graph = 'workflow'
