-- name: create_workflow
-- $1 id, $2 owner, $3 name, $4 document, $5 message, $6 most workflows, $7 and $8 kind and reference of the author
with made as (
  insert into workflows (id, owner_id, name, version)
  select $1, $2, $3, 1 where (select count(*) from workflows where owner_id = $2) < $6::int
  on conflict (id) do nothing
  returning id, name, version, created_at, updated_at
), first_version as (
  insert into workflow_versions (workflow_id, n, document, message, author_kind, author_ref)
  select id, 1, $4::json, $5, $7, $8::uuid from made
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select $2, 'user', 'workflow_created', jsonb_build_object('workflow', id) from made
)
select id, name, version, created_at, updated_at, '{}'::text[] as tags, (select email from users where id = $2) as owner
from made

-- name: save_version
-- $1 id, $2 owner, $3 version that was read, $4 name, $5 document, $6 patch, $7 message, $8 versions to keep,
-- $9 and $10 kind and reference of the author
with moved as (
  update workflows set version = version + 1, name = coalesce($4, name), updated_at = now()
  where id = $1 and owner_id = $2 and version = $3
  returning id, version
), added as (
  insert into workflow_versions (workflow_id, n, document, patch, message, author_kind, author_ref)
  select id, version, $5::json, $6::json, $7, $9, $10::uuid from moved
), pruned as (
  delete from workflow_versions v using moved where v.workflow_id = moved.id and v.n <= moved.version - $8::int
    and not exists (select from workflow_tags t where t.workflow_id = v.workflow_id and t.version = v.n)
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select $2, 'user', 'workflow_changed', jsonb_build_object('workflow', id, 'version', version) from moved
)
select version from moved

-- name: get_workflow
select w.id, w.name, w.version, w.created_at, w.updated_at, u.email as owner, v.document,
  array(select t.name from workflow_tags t where t.workflow_id = w.id order by t.name) as tags
from workflows w join workflow_versions v on v.workflow_id = w.id and v.n = w.version join users u on u.id = w.owner_id
where w.id = $1 and w.owner_id = $2

-- name: list_workflows
-- $6 a tag, or null
select w.id, w.name, w.version, w.created_at, w.updated_at, u.email as owner,
  array(select t.name from workflow_tags t where t.workflow_id = w.id order by t.name) as tags
from workflows w join users u on u.id = w.owner_id
where w.owner_id = $1 and ($2::timestamptz is null or (w.updated_at, w.id) < ($2, $3::uuid))
  and ($6::text is null or exists (select from workflow_tags t where t.workflow_id = w.id and t.name = $6))
order by w.updated_at desc, w.id desc
limit $4 offset $5

-- name: count_workflows
select count(*) as total from (
  select from workflows w where w.owner_id = $1
    and ($3::text is null or exists (select from workflow_tags t where t.workflow_id = w.id and t.name = $3))
  limit $2
) as few

-- name: list_versions
select v.n as version, v.message, v.patch, v.created_at, u.email, v.author_kind, v.author_ref, k.name as key_name,
  array(select t.name from workflow_tags t where t.workflow_id = v.workflow_id and t.version = v.n order by t.name) as tags
from workflow_versions v join workflows w on w.id = v.workflow_id join users u on u.id = w.owner_id
left join api_keys k on v.author_kind = 'api_key' and k.id = v.author_ref
where w.id = $1 and w.owner_id = $2
order by v.n desc
limit $3 offset $4

-- name: get_version
select v.n as version, v.message, v.patch, v.created_at, u.email, v.author_kind, v.author_ref, k.name as key_name, v.document,
  array(select t.name from workflow_tags t where t.workflow_id = v.workflow_id and t.version = v.n order by t.name) as tags
from workflow_versions v join workflows w on w.id = v.workflow_id join users u on u.id = w.owner_id
left join api_keys k on v.author_kind = 'api_key' and k.id = v.author_ref
where w.id = $1 and w.owner_id = $2 and v.n = $3

-- name: delete_workflow
with gone as (
  delete from workflows where id = $1 and owner_id = $2 returning id
)
insert into audit (owner_id, actor, action, detail)
select $2, 'user', 'workflow_deleted', jsonb_build_object('workflow', id) from gone
returning id

-- name: list_runs
-- A run that failed may be a completed session, whose result says how it ended.
select s.id, s.status, s.result ->> 'end' as result_end,
  s.status = 'queued' and s.wait_until is not null and s.wake = s.seen as is_waiting,
  s.preferences #>> '{workflow,node}' as node,
  (s.preferences #>> '{workflow,version}')::int as version, s.created_at, s.started_at, s.ended_at
from sessions s
where s.owner_id = $1 and s.graph in ('run', 'workflow') and s.preferences #>> '{workflow,id}' = $2::text
order by s.created_at desc, s.id desc
limit $3 offset $4

-- name: find_last_run
-- The newest run of all nodes that came to an end, well or not.
select s.id, s.preferences::text as preferences from sessions s
where s.owner_id = $1 and s.graph = 'workflow' and s.preferences #>> '{workflow,id}' = $2::text and s.status = 'completed'
order by s.created_at desc, s.id desc limit 1

-- name: list_last_runs
-- $1 owner, $2 workflows
select w.id as workflow_id, r.*
from unnest($2::uuid[]) as w (id) cross join lateral (
  select s.id, s.status, s.result ->> 'end' as result_end,
    s.status = 'queued' and s.wait_until is not null and s.wake = s.seen as is_waiting,
    s.preferences #>> '{workflow,node}' as node,
    (s.preferences #>> '{workflow,version}')::int as version, s.created_at, s.started_at, s.ended_at
  from sessions s
  where s.owner_id = $1 and s.graph in ('run', 'workflow') and s.preferences #>> '{workflow,id}' = w.id::text
  order by s.created_at desc, s.id desc limit 1
) as r

-- name: list_runs_awaiting_user
select s.id, w.id as workflow_id, w.name, (s.preferences #>> '{workflow,version}')::int as version, q.question, s.created_at
from sessions s
join workflows w on w.id = (s.preferences #>> '{workflow,id}')::uuid and w.owner_id = s.owner_id
cross join lateral (
  select json_build_object('key', q.key, 'text', q.body ->> 'text', 'options', q.body -> 'options')::text as question, q.asked_at
  from questions q where q.session_id = s.id and q.answered_at is null order by q.asked_at limit 1
) as q
where s.owner_id = $1 and s.graph = 'workflow' and s.status = 'awaiting_user' and s.ended_at is null
order by q.asked_at, s.id
limit $2 offset $3

-- name: list_runs_to_review
-- Of each workflow the newest run that came to an end, if it failed or left a doubt that its owner has not seen: a later
-- good run mends what came before it.
select r.id, w.id as workflow_id, w.name, r.version, case when r.is_failed then 'failed' else 'succeeded' end as status,
  coalesce(r.error, doubt.text) as reason, r.created_at
from workflows w
cross join lateral (
  select s.id, (s.preferences #>> '{workflow,version}')::int as version, s.created_at, s.ended_at, s.result,
    s.status = 'failed' or s.result ->> 'end' = 'failed' as is_failed, s.error ->> 'detail' as error
  from sessions s
  where s.owner_id = w.owner_id and s.graph = 'workflow' and s.preferences #>> '{workflow,id}' = w.id::text
    and s.status in ('completed', 'failed')
  order by s.created_at desc, s.id desc limit 1
) as r
left join lateral (
  select n.key || ': ' || coalesce(n.value ->> 'error', n.value -> 'notes' ->> -1, n.value ->> 'status') as text
  from json_each(r.result -> 'nodes') as n
  where n.value ->> 'status' in ('failed', 'unknown') or (n.value ->> 'needs_review')::boolean
  order by n.value ->> 'status' in ('failed', 'unknown') desc limit 1
) as doubt on true
where w.owner_id = $1 and (r.is_failed or doubt.text is not null)
  and (w.seen_run_at is null or r.created_at > w.seen_run_at)
order by r.ended_at desc, r.id
limit $2 offset $3

-- name: mark_run_seen
-- $1 run, $2 owner. Earlier runs of its workflow are seen with it.
update workflows w set seen_run_at = greatest(w.seen_run_at, s.created_at)
from sessions s
where s.id = $1 and s.owner_id = $2 and s.graph = 'workflow' and w.owner_id = $2
  and w.id::text = s.preferences #>> '{workflow,id}'

-- name: get_run
select s.id, s.preferences::text as preferences, s.status, s.created_at, s.started_at, s.ended_at, s.result::text as result,
  s.error ->> 'detail' as error,
  case when s.wait_until is not null and s.ended_at is null then s.after_id end as waits_for,
  case when s.after_id is null and s.ended_at is null then s.wait_until end as waits_until,
  s.status = 'queued' and s.wait_until is not null and s.wake = s.seen as is_waiting,
  (select st.update::text from steps st where st.session_id = s.id order by st.seq desc limit 1) as step,
  (select json_build_object('key', q.key, 'text', q.body ->> 'text', 'options', q.body -> 'options')::text
   from questions q where q.session_id = s.id and q.answered_at is null and s.ended_at is null
   order by q.asked_at limit 1) as question,
  (select json_object_agg(regexp_replace(a.name, '[.]vl[.]json$', ''), a.id)::text from artifacts a
   where a.session_id = s.id and a.kind = 'chart') as charts
from sessions s where s.id = $1 and s.owner_id = $2 and s.graph = 'workflow'

-- name: find_table_by_id
-- $1 owner, $2 media type of tables, $3 artifact
select a.digest, a.name, a.created_at as made_at from artifacts a
where a.id = $3 and a.owner_id = $1 and a.media_type = $2 and a.kind <> 'holdout'

-- name: find_table_of_session
-- $1 owner, $2 media type of tables, $3 session, $4 name, without the ending of a file; null for the newest
select a.digest, a.name, a.created_at as made_at from artifacts a
where a.session_id = $3 and a.owner_id = $1 and a.media_type = $2 and a.kind <> 'holdout'
  and ($4::text is null or regexp_replace(a.name, '[.]parquet$', '') = $4)
order by a.seq desc, a.created_at desc, a.id limit 1

-- name: find_table_of_node
-- $1 owner, $2 media type of tables, $3 workflow, $4 node: of the newest run in which it ended well. A run of one query has
-- the name of its node in its preferences.
select a.digest, a.name, a.created_at as made_at
from sessions s join artifacts a on a.session_id = s.id and a.owner_id = $1 and a.media_type = $2
where s.owner_id = $1 and s.graph in ('run', 'workflow') and s.preferences #>> '{workflow,id}' = ($3::uuid)::text
  and s.status = 'completed'
  and (s.preferences #>> '{workflow,node}' = $4
    or (a.name = $4 and a.kind = 'frame' and s.result -> 'nodes' -> $4 ->> 'status' = 'done'))
order by s.created_at desc, a.seq desc, a.created_at desc limit 1

-- name: find_study
select status, error ->> 'detail' as error, result ->> 'headline' as headline, result #>> '{problem,target}' as target,
  result ->> 'metric' as metric, (result #>> '{holdout,value}')::float8 as value, (result ->> 'model')::uuid as model_id
from sessions where id = $1 and owner_id = $2 and ended_at is not null

-- name: list_figures
-- $3 node, $4 runs that do not count, $5 newest runs to look at: of each version of the workflow the figure of the node in
-- the newest of them, the newest first.
with newest as (
  select (s.result -> 'nodes' -> $3::text ->> 'figure')::float8 as figure, s.created_at,
    (s.preferences #>> '{workflow,version}')::int as version
  from sessions s
  where s.owner_id = $1 and s.graph = 'workflow' and s.preferences #>> '{workflow,id}' = ($2::uuid)::text
    and s.id <> all($4::uuid[]) and s.ended_at is not null and s.result -> 'nodes' -> $3::text ->> 'figure' is not null
  order by s.created_at desc
  limit $5
), by_version as (
  select distinct on (version) figure, created_at, version from newest order by version, created_at desc
)
select b.figure, v.document::text as document
from by_version b join workflow_versions v on v.workflow_id = $2::uuid and v.n = b.version
order by b.created_at desc

-- name: get_version_document
select v.document::text from workflow_versions v join workflows w on w.id = v.workflow_id
where w.owner_id = $1 and v.workflow_id = $2 and v.n = $3

-- name: get_run_document
select goal as document, preferences::text as preferences from sessions
where id = $1 and owner_id = $2 and graph = 'workflow'

-- name: list_run_frames
select distinct on (a.name) a.name, a.media_type, a.digest, a.size_bytes, a.meta::text as meta
from artifacts a where a.session_id = $1 and a.owner_id = $2 and a.kind = 'frame'
order by a.name, a.seq desc, a.created_at desc
