-- name: read_source
-- $1 source, $2 owner, $3 step of the fork, $4 key of a question or null, $5 seconds for which a worker is live.
select s.id, s.graph, s.goal, s.preferences, s.status, s.last_seq, s.ended_at is not null as has_ended,
  'journal' = any(s.forgotten) as is_forgotten, s.fork,
  (select coalesce(json_agg(json_build_object('seq', seq, 'node', node, 'update', update) order by seq), '[]')
    from steps where session_id = s.id and seq < $3) as steps,
  (select coalesce(json_agg(json_build_object('name', d.name, 'columns', d.columns)
      order by array_position(s.dataset_ids, d.id)), '[]')
    from datasets d where d.id = any(s.dataset_ids) and d.owner_id = s.owner_id) as datasets,
  array(select id from artifacts where session_id = s.id and seq <= $3) as artifacts,
  (select row_to_json(q) from (
    select key, kind, body from questions where session_id = s.id and key = $4) as q) as question,
  not exists (select from workers where seen_at > now() - $5 * interval '1 second') or exists (
    select from workers w where seen_at > now() - $5 * interval '1 second'
      and can_drive(w.graphs, s.graph, s.graph_version)) as is_runnable
from sessions s where s.id = $1 and s.owner_id = $2

-- name: fork
-- $1 fork, $2 source, $3 owner, $4 step, $5 key of the question or null, $6 its answer, $7 preferences, $8 record,
-- $9 digest of the request, $10 idempotency key, $11 live sessions of an owner, $12 and $13 running sessions,
-- $14 and $15 ids of artifacts and of their copies, $16 kinds and $17 bodies of the events, $18 now, $19 messages
-- of the user by the number of their event, $20 whether the datasets are read again, $21 detail of the audit,
-- $22 the answer that lets a tool run without asking, $23 running turns.
with own as (
  select coalesce((quotas ->> 'sessions')::int, $11::int) as max_live,
    coalesce((quotas ->> 'running_sessions')::int, $13::int) + $12::int > 0 as needs_admission
  from users where id = $3
), source as (
  select * from sessions
  where id = $2 and owner_id = $3 and last_seq >= $4 - 1 and not 'journal' = any(forgotten)
), missing as (
  select count(*) as n from source, unnest(dataset_ids) as wanted
  where $20::boolean and not exists (select from datasets where id = wanted and owner_id = $3)
), live as (
  select count(*) as n from (
    select from sessions where owner_id = $3 and ended_at is null and class = 'study'
    limit (select nullif(max_live, 0) from own)) as few
), asked as (
  select asked_at from questions where session_id = $2 and key = $5
), open_calls as (
  -- The calls of the open step from before the question: a session's writes follow one another.
  select c.key, c.recorded_at, c.worked_s from calls c, asked
  where c.session_id = $2 and c.seq = $4 and c.recorded_at <= asked.asked_at
), s as (
  insert into sessions (id, owner_id, graph, graph_version, goal, preferences, dataset_ids, seed,
    idempotency_key, request_digest, fence, last_seq, event_seq, admitted_at, forked_from, family_id, fork,
    datasets_at, inherited_s)
  -- Fence 1: the first claim then has 2, and looks up what was copied.
  select $1::uuid, $3::uuid, o.graph, o.graph_version, o.goal, $7::jsonb, o.dataset_ids, o.seed,
    $10::text, $9::text, 1, $4::int - 1, cardinality($16::text[]), case when not own.needs_admission then now() end, o.id,
    coalesce(o.family_id, o.id), $8::json, coalesce(o.datasets_at, o.created_at),
    coalesce(
      (select worked_s from open_calls order by recorded_at desc limit 1),
      (select worked_s from steps where session_id = $2 and seq = $4 - 1),
      -- Steps from before `worked_s` was recorded.
      (select sum(extract(epoch from committed_at - started_at)) from steps
        where session_id = $2 and seq < $4), 0)
  from source o, own, missing, live
  where missing.n = 0 and (own.max_live = 0 or live.n < own.max_live) and ($5::text is null or exists (
    select from asked))
  on conflict do nothing
  returning id, created_at, admitted_at
), steps_ as (
  insert into steps (session_id, seq, node, update, fence, started_at, committed_at, worked_s)
  select s.id, o.seq, o.node, o.update, 0, o.started_at, o.committed_at, o.worked_s
  from s, steps o where o.session_id = $2 and o.seq < $4
), calls_ as (
  insert into calls (session_id, seq, key, kind, name, agent, request_digest, request, result, failed, fence,
    started_at, duration_ms, recorded_at, usage, worked_s)
  select s.id, o.seq, o.key, o.kind, o.name, o.agent, o.request_digest, o.request, o.result, o.failed, 0,
    o.started_at, o.duration_ms, o.recorded_at, o.usage, o.worked_s
  from s, calls o
  where o.session_id = $2 and (o.seq < $4 or (o.seq = $4 and o.key in (select key from open_calls)))
), artifacts_ as (
  insert into artifacts (id, owner_id, session_id, seq, call_key, kind, name, media_type, digest, size_bytes,
    meta, created_at, mentions)
  select copied.id, $3::uuid, s.id, o.seq, o.call_key, o.kind, o.name, o.media_type, o.digest, o.size_bytes,
    o.meta, o.created_at, o.mentions
  from s, unnest($14::uuid[], $15::uuid[]) as copied (source_id, id),
    -- One look-up for each id. A join may read the list again for each artifact, where statistics are old.
    lateral (select * from artifacts where id = copied.source_id offset 0) as o
  where o.session_id = $2 and (o.seq < $4 or (o.seq = $4 and o.call_key in (select key from open_calls)))
), questions_ as (
  -- A budget is the session's own, and so is what may run without asking.
  insert into questions (session_id, key, kind, agent, body, asked_at, answer, answered_by, answered_at,
    revoked_at)
  select s.id, o.key, o.kind, o.agent, o.body, o.asked_at, o.answer, o.answered_by, o.answered_at,
    case when o.kind = 'approval' and o.answer #>> '{}' = $22 then coalesce(o.revoked_at, now()) end
  from s, questions o left join asked on true
  where o.session_id = $2 and o.kind <> 'budget' and o.answered_at is not null and (
    split_part(o.key, '.', 1)::int < $4
    or (split_part(o.key, '.', 1)::int = $4 and o.answered_at <= asked.asked_at))
  union all
  select s.id, o.key, o.kind, o.agent, o.body, o.asked_at, $6::json, 'user', $18::timestamptz, null
  from s, questions o where o.session_id = $2 and o.key = $5
), messages_ as (
  -- An answer has the number of its event, negative. Those of the open step get numbers below all events.
  insert into messages (session_id, seq, n, role, text, at)
  select s.id, o.seq,
    case when o.seq = $4 then -1073741824 - row_number() over (order by o.seq = $4 desc, o.at, o.n)
      else o.n end,
    o.role, o.text, o.at
  from s, messages o left join asked on true
  where o.session_id = $2 and (o.seq < $4 or (o.seq = $4 and o.n < 0 and o.at <= asked.asked_at))
  union all
  select s.id, $4::int, -m.n, 'user', m.text, $18::timestamptz
  from s, json_to_recordset($19::json) as m (n int, text text)
), events_ as (
  insert into events (session_id, n, kind, body, at)
  select s.id, e.n, e.kind, e.body::json, $18::timestamptz
  from s, unnest($16::text[], $17::text[]) with ordinality as e (kind, body, n)
), trail as (
  insert into audit (owner_id, session_id, actor, action, detail)
  select $3::uuid, id, 'user', 'session_forked', $21::jsonb from s
)
select own.max_live, missing.n as missing_datasets, source.id is not null as is_source_there, s.created_at,
  case when s.id is null then '{}' when s.admitted_at is not null then array[s.id]
    else array(select admit_sessions($12::int, $13::int, $23::int)) end as admitted
from own cross join missing left join source on true left join s on true

-- name: read_later_steps
-- Steps from before `worked_s` was recorded count from start to commit.
select seq, node, worked_s from (
  select seq, node, greatest(coalesce(worked_s - lag(worked_s, 1, 0) over (order by seq),
    extract(epoch from committed_at - started_at)), 0)::float8 as worked_s
  from steps where session_id = $1) as own
where seq >= $2 order by seq

-- name: find_fork
select id, status, created_at, request_digest is not distinct from $4 as is_same_request
from sessions where owner_id = $2 and (id = $1 or idempotency_key = $3)

-- name: count_look
select count_look($1, $2, $3) as number

-- name: describe_look
-- $1 session, $2 number of its look.
with family as (
  select coalesce(family_id, id) as id from sessions where id = $1
), first_look as (
  select min(at) as at from holdout_looks where family_id = (select id from family)
)
select $2::int as number, (
  select count(*)::int from sessions s, first_look
  where s.family_id = (select id from family) and s.created_at > first_look.at) as forks_after_look

-- name: find_siblings
-- The evaluations of the other members of the family that still exist, each in the session that made it.
select s.id, s.fork, c.result ->> 'metric' as metric, (c.result ->> 'rows')::int as rows,
  json_build_object('value', c.result -> 'metrics' -> (c.result ->> 'metric') -> 'value',
    'low', c.result -> 'metrics' -> (c.result ->> 'metric') -> 'low',
    'high', c.result -> 'metrics' -> (c.result ->> 'metric') -> 'high',
    'looks', coalesce((c.result #>> '{family,looks}')::int, 1)) as score
from sessions mine
join sessions s on coalesce(s.family_id, s.id) = coalesce(mine.family_id, mine.id) and s.id <> mine.id
join calls c on c.session_id = s.id and c.kind = 'tool' and c.name = 'final_evaluation'
where mine.id = $1 and not c.failed and c.fence > 0
order by s.created_at
limit 50

-- name: read_compared
-- $1 sessions, $2 owner. Of models only the chosen ones, whose recipes are compared.
select s.id, s.class as class_, s.goal, coalesce(s.name, s.goal) as name, s.preferences, s.seed, s.status,
  s.ended_at is not null as has_ended, s.forked_from, coalesce(s.family_id, s.id) as family_id, s.fork, s.result,
  (select count(*)::int from holdout_looks
    where family_id = coalesce(s.family_id, s.id) and kind = 'final') as final_looks,
  (select coalesce(json_agg(json_build_object('seq', seq, 'node', node, 'update', update,
      'started_at', started_at, 'committed_at', committed_at) order by seq), '[]')
    from steps where session_id = s.id) as steps,
  (select coalesce(json_agg(json_build_object('kind', kind, 'name', name, 'digest', digest, 'seq', seq,
      'meta', case when kind <> 'model' or name = s.result ->> 'model_name' then meta else '{}'::jsonb end)
      order by seq, created_at), '[]')
    from artifacts where session_id = s.id and kind in ('frame', 'holdout', 'model')) as artifacts,
  (select coalesce(json_agg(json_build_object('key', key, 'question', body ->> 'text', 'answer', answer)
      order by asked_at), '[]')
    from questions where session_id = s.id and answered_at is not null and kind <> 'budget') as answers
from sessions s where s.id = any($1::uuid[]) and s.owner_id = $2
