-- name: list_sessions
-- A plan that serves all parameters sorts every session of the owner. It may sort ids alone: a result is read from
-- disk where its headline is, so it is for the rows of the page only.
with page as materialized (
  select s.id, s.created_at
  from sessions s
  where s.owner_id = $1 and ($2::text is null or s.status = $2) and s.class = $3
    and (s.archived_at is not null) = $4::boolean
    and ($5::text[] is null or concat_ws(' ', s.name, s.goal) ilike all($5))
    and ($10::uuid is null or $10 = any(s.dataset_ids))
    -- Deleted for its owner, and gone once nothing of it runs. A list that is read once, and no search for each row.
    and s.id not in (select target_id from deletions where kind = 'session' and done_at is null)
    -- ORDER
)
select s.id, s.goal, coalesce(s.name, s.goal) as name, s.archived_at, s.status, s.last_seq as step,
  (select node from steps where session_id = s.id and seq = s.last_seq) as node,
  s.created_at, s.started_at, s.ended_at, s.forked_from, s.fork, s.error ->> 'code' as error_code,
  s.result ->> 'headline' as headline,
  coalesce(extract(epoch from coalesce(s.ended_at, s.waiting_since, now()) - s.started_at)
    - s.waited_s, 0)::float8 as worked_s
from page join sessions s using (id)
order by -- PAGE ORDER

-- name: newest_first
    -- Implied by the condition after it; only with it can an index seek to the row.
    and s.created_at <= coalesce($6, 'infinity'::timestamptz)
    and ($6 is null or s.created_at < $6 or s.id > $7::uuid)
  order by s.created_at desc, s.id
  limit $8 offset $9

-- name: oldest_first
    and s.created_at >= coalesce($6, '-infinity'::timestamptz)
    and ($6 is null or s.created_at > $6 or s.id > $7::uuid)
  order by s.created_at, s.id
  limit $8 offset $9

-- name: count_sessions
select count(*) as total from (
  select from sessions s
  where owner_id = $1 and ($2::text is null or status = $2) and class = $3
    and (s.archived_at is not null) = $4::boolean
    and ($5::text[] is null or concat_ws(' ', s.name, s.goal) ilike all($5))
    and ($7::uuid is null or $7 = any(s.dataset_ids))
    and s.id not in (select target_id from deletions where kind = 'session' and done_at is null)
  limit $6) as few

-- name: count_sessions_of_owner
select status, count(*) as sessions from sessions s
where owner_id = $1 and class = $2 and (archived_at is not null) = $3::boolean
  and ($4::text[] is null or concat_ws(' ', name, goal) ilike all($4))
  and ($5::uuid is null or $5 = any(dataset_ids))
  and s.id not in (select target_id from deletions where kind = 'session' and done_at is null)
group by status

-- name: update_session
update sessions set name = case when $3::text is null then name else nullif($3, '') end,
  archived_at = case when $4::boolean is null then archived_at when $4 then coalesce(archived_at, now()) end
where id = $1 and owner_id = $2 and class = $5
returning id

-- name: is_awaiting_user
select exists (
  select from questions q join sessions s on s.id = q.session_id
  where q.session_id = $1 and q.answered_at is null and s.ended_at is null) as is_awaiting

-- name: get_session
select s.id, s.goal, coalesce(s.name, s.goal) as name, s.archived_at, s.status, s.last_seq as step,
  (select node from steps where session_id = s.id and seq = s.last_seq) as node,
  s.created_at, s.started_at, s.ended_at, s.forked_from, coalesce(s.family_id, s.id) as family_id, s.fork,
  s.inherited_s, s.dataset_ids, s.preferences, s.seed, s.deadline_at, s.event_seq, s.error, s.result, s.forgotten as expired_data,
  case when s.ended_at is null and s.admitted_at is null and s.wake > s.seen then
    (select json_build_object('position', place, 'length', length) from session_line where id = s.id) end as queue,
  (select row_to_json(q) from (
    select key, kind, agent, body, asked_at from questions
    where session_id = s.id and answered_at is null and s.ended_at is null
    order by asked_at limit 1) as q) as question,
  coalesce(extract(epoch from coalesce(s.ended_at, s.waiting_since, now()) - s.started_at)
    - s.waited_s, 0)::float8 as worked_s,
  (select coalesce(json_agg(json_build_array(split_part(key, ':', 2), answer) order by answered_at), '[]')
    from questions where session_id = s.id and kind = 'budget' and answered_at is not null) as budget_answers,
  (select coalesce(json_agg(u), '[]') from ( -- USAGE
  ) as u) as usage
from sessions s
-- A whole run of a workflow, of class `run` too, has a view of its own.
where s.id = $1 and s.owner_id = $2 and ($3::text is null or (s.class = $3 and s.graph <> 'workflow'))


-- name: is_owned
select from sessions where id = $1 and owner_id = $2

-- name: is_over
select ended_at is not null and event_seq <= $3 as over from sessions where id = $1 and owner_id = $2

-- name: list_messages
-- Messages have no fence. A fork copies those of the steps before its own first one, and answers of that step under
-- numbers that its own cannot have (`FORKS.fork`).
select m.seq as step, m.n as number, m.role, m.text, m.at as created_at, count(*) over () as total,
  coalesce(m.seq < (s.fork ->> 'step')::int or (s.fork is not null and m.n < -1073741824), false) as inherited
from messages m join sessions s on s.id = m.session_id
where m.session_id = $1 order by m.at, m.seq, m.n limit $2 offset $3

-- name: list_steps
select seq as step, node, started_at, committed_at, fence = 0 as inherited, count(*) over () as total,
  (select coalesce(json_agg(json_build_object(
      'key', key, 'kind', kind, 'name', name, 'agent', agent, 'failed', failed,
      'duration_ms', duration_ms, 'recorded_at', recorded_at, 'inherited', fence = 0) order by recorded_at, key), '[]')
    from calls c where c.session_id = steps.session_id and c.seq = steps.seq) as calls
from steps where session_id = $1 order by seq limit $2 offset $3

-- name: timeline
-- A step that runs has no row: it is after the last one of a session that has begun and not ended. Calls and fits are
-- counted for the steps of the page only.
with spans as (
  select seq, node, started_at, committed_at as ended_at, fence = 0 as inherited from steps where session_id = $1
  union all
  select s.last_seq + 1, '', coalesce((select min(c.started_at) from calls c
      where c.session_id = s.id and c.seq = s.last_seq + 1), s.started_at), null, false
  from sessions s where s.id = $1 and s.started_at is not null and s.ended_at is null
), page as (
  select *, count(*) over () as total from spans order by seq limit $2 offset $3
)
select p.seq as step, p.node, p.started_at, p.ended_at, p.inherited, p.total, called.*, fitted.*,
  (select count(*) from artifacts a where a.session_id = $1 and a.seq = p.seq) as artifacts,
  (select count(*) from questions q where q.session_id = $1 and split_part(q.key, '.', 1) = p.seq::text) as questions
from page p, lateral (
  select count(*) filter (where kind = 'tool') as tool_calls, count(*) filter (where kind = 'chat') as chat_calls,
    count(*) filter (where failed) as failed_calls,
    coalesce(sum((usage ->> 'input_tokens')::float8 + (usage ->> 'output_tokens')::float8), 0)::bigint as tokens,
    coalesce(sum((usage ->> 'cost_usd')::float8), 0) as cost_usd,
    coalesce(sum((usage ->> 'cpu_s')::float8), 0) as cpu_s,
    coalesce(max((usage ->> 'peak_memory_bytes')::bigint), 0) as peak_memory_bytes
  from calls c where c.session_id = $1 and c.seq = p.seq
) called, lateral (
  select count(*) as fits, count(*) filter (where status = 'failed') as failed_fits
  from fits f where f.session_id = $1 and split_part(f.round_key, '.', 1) = p.seq::text
) fitted
order by p.seq

-- name: visited_nodes
select s.graph, s.ended_at is not null as is_over, s.started_at is not null as has_begun,
  (select coalesce(json_agg(node order by seq), '[]') from steps where session_id = s.id) as nodes,
  (select coalesce(json_agg(seq order by seq), '[]') from steps where session_id = s.id) as steps
from sessions s where s.id = $1 and s.owner_id = $2

-- name: get_results
select s.id, s.status, s.error, s.result,
  (select coalesce(json_agg(json_build_object(
      'round', round_key, 'candidate', candidate, 'name', name, 'status', status, 'attempts', runs,
      'started_at', started_at, 'ended_at', ended_at) order by round_key, candidate), '[]')
    from fits f where f.session_id = s.id) as candidates
from sessions s where s.id = $1 and s.owner_id = $2

-- name: usage
  with used as (
    select seq, agent, kind, usage, duration_ms, fence = 0 as inherited from calls
    where session_id = $1 and kind in ('chat', 'tool')
    union all
    select split_part(f.round_key, '.', 1)::int, c.agent, 'fit', coalesce(f.result -> 'usage', '{}')::jsonb, 0,
      false
    from fits f left join calls c on c.session_id = f.session_id and f.round_key = c.seq || '.' || c.key
    where f.session_id = $1 and f.result is not null
  )
  select used.seq as step, node, used.agent, used.inherited,
    count(*) filter (where kind = 'chat') as chat_calls,
    count(*) filter (where kind = 'tool') as tool_calls,
    count(*) filter (where kind = 'fit') as fits,
    coalesce(sum((usage ->> 'input_tokens')::float8), 0)::bigint as input_tokens,
    coalesce(sum((usage ->> 'output_tokens')::float8), 0)::bigint as output_tokens,
    coalesce(sum((usage ->> 'cached_tokens')::float8), 0)::bigint as cached_tokens,
    coalesce(sum((usage ->> 'cost_usd')::float8), 0) as cost_usd,
    count(*) filter (where usage ? 'input_tokens' and not usage ? 'cost_usd') as unpriced_calls,
    coalesce(sum((usage ->> 'cells')::float8), 0)::bigint as cells,
    coalesce(sum((usage ->> 'cpu_s')::float8), 0) as cpu_s,
    coalesce(max((usage ->> 'peak_memory_bytes')::bigint), 0) as peak_memory_bytes,
    coalesce(max((usage ->> 'memory_limit_bytes')::bigint), 0) as memory_limit_bytes,
    round(sum(duration_ms)::numeric / 1000, 3)::float8 as duration_s
  from used left join steps on steps.session_id = $1 and steps.seq = used.seq
  group by used.seq, node, used.agent, used.inherited order by used.seq, used.agent, used.inherited desc

-- name: audit
with trail as (
  select at, 'audit' as source, id as n, '' as key, actor, action
  from audit where session_id = $1 and action <> 'question_answered'
  union all
  select recorded_at, 'call', seq, key, coalesce(agent, 'system'),
    case kind when 'tool' then 'tool_called' when 'chat' then 'chat_model_called' else 'choice_made' end
  from calls where session_id = $1
  union all
  select committed_at, 'step', seq, node, 'system', 'step_committed' from steps where session_id = $1
  union all
  select asked_at, 'question', 0, key, agent, kind || '_asked' from questions where session_id = $1
  union all
  select answered_at, 'answer', 0, key, case answered_by when 'user' then 'user' else 'system' end,
    kind || '_answered'
  from questions where session_id = $1 and answered_at is not null
  union all
  select revoked_at, 'revoked', 0, key, 'user', 'allowance_revoked'
  from questions where session_id = $1 and revoked_at is not null
  union all
  select at, 'event', n, kind, 'system', kind from events
  where session_id = $1
    and kind in ('session_started', 'budget_warning', 'session_finished', 'session_failed', 'session_cancelled')
-- What is told of an entry is read for the entries of the page only.
), page as (
  select *, count(*) over () as total from trail order by at, source, n, key limit $2 offset $3
)
select p.at as created_at, p.actor, p.action, p.total,
  case p.source
    when 'audit' then (select a.detail::json from audit a where a.id = p.n)
    when 'call' then (
      select json_build_object('step', c.seq, 'call', c.key, 'name', c.name, 'failed', c.failed,
        'inherited', c.fence = 0,
        'duration_ms', c.duration_ms, 'arguments', case c.kind when 'tool' then c.request end,
        'request_digest', c.request_digest,
        'answered_by', case c.kind when 'chat' then c.result #>> '{data,response_metadata,answered_by}' end,
        'result_digest', encode(sha256(convert_to(c.result::text, 'UTF8')), 'hex'), 'usage', c.usage)
      from calls c where c.session_id = $1 and c.seq = p.n and c.key = p.key)
    when 'step' then (
      select json_build_object('step', s.seq, 'node', s.node, 'inherited', s.fence = 0)
      from steps s where s.session_id = $1 and s.seq = p.n)
    when 'question' then (
      select json_build_object('question', q.key, 'body', q.body)
      from questions q where q.session_id = $1 and q.key = p.key)
    when 'answer' then (
      select json_build_object('question', q.key, 'answer', q.answer, 'by', q.answered_by)
      from questions q where q.session_id = $1 and q.key = p.key)
    when 'revoked' then json_build_object('question', p.key)
    else (select e.body from events e where e.session_id = $1 and e.n = p.n)
  end as detail
from page p order by p.at, p.source, p.n, p.key

-- name: recorded_calls
select c.seq, coalesce(s.node, $2) as node, c.key, c.kind, c.name, coalesce(c.agent, '') as agent, c.request,
  c.result, c.failed, c.duration_ms
from calls c left join steps s using (session_id, seq)
where c.session_id = $1 and c.kind = 'tool'
order by c.seq, c.recorded_at, c.key

-- name: recorded_artifacts
select id, kind, name, media_type, digest, size_bytes, seq, call_key, meta
from artifacts where session_id = $1 order by created_at, seq, name

-- name: recorded_questions
select key, agent, body, answer, answered_by from questions where session_id = $1 order by asked_at, key

-- name: last_step
select last_seq from sessions where id = $1 and owner_id = $2

-- name: export_calls
select c.seq, coalesce(s.node, '') as node, c.key, c.kind, c.name, coalesce(c.agent, '') as agent, c.request,
  c.result, c.failed, c.duration_ms
from calls c left join steps s using (session_id, seq)
where c.session_id = $1 and c.seq = $2
order by c.recorded_at, c.key

-- name: call_evidence
select c.seq, coalesce(s.node, '') as node, c.key, c.kind, c.name, coalesce(c.agent, '') as agent, c.request,
  c.result, c.failed, c.duration_ms, c.usage, c.started_at, c.fence = 0 as inherited, c.request_digest,
  encode(sha256(convert_to(c.result::text, 'UTF8')), 'hex') as result_digest
from calls c join sessions on sessions.id = c.session_id and sessions.owner_id = $2
  left join steps s using (session_id, seq)
where c.session_id = $1 and c.seq = $3 and c.key = $4

-- name: tool_permissions
select body -> 'about' ->> 'tool' as tool, key as question, answered_at as granted_at from questions
where session_id = $1 and kind = 'approval' and answer #>> '{}' = $2 and revoked_at is null
order by answered_at, key

-- name: revoke_tool_permission
update questions set revoked_at = $4
where session_id = $1 and kind = 'approval' and answer #>> '{}' = $2 and body -> 'about' ->> 'tool' = $3
  and revoked_at is null
returning key

-- name: count_by_status
select status, count(*) as sessions,
  count(*) filter (where (admitted_at is not null or cancel)
    and ((lease_until is null and wake > seen) or lease_until < now())) as due,
  count(*) filter (where admitted_at is null and not cancel and paused_at is null and wake > seen) as queue_length,
  coalesce(max(extract(epoch from now() - queued_at))
    filter (where admitted_at is null and not cancel and paused_at is null and wake > seen), 0)::float8 as queue_wait_s
from sessions where ended_at is null group by status

-- name: count_open_fits
select count(*) filter (where status = 'queued' or lease_until < now()) as due
from fits where status in ('queued', 'running')

-- name: budget_usage
-- What a fork copied (fence 0) was charged to its source.
select
  (select coalesce(sum(
      (usage ->> 'input_tokens')::float8 + (usage ->> 'output_tokens')::float8), 0)
    from calls where session_id = $1 and kind = 'chat' and fence > 0) as tokens,
  (select coalesce(sum((usage ->> 'cost_usd')::float8), 0)
    from calls where session_id = $1 and kind = 'chat' and fence > 0) as cost_usd,
  (select count(*)::float8 from calls
    where session_id = $1 and kind = 'tool' and fence > 0) as tool_calls,
  (select coalesce(json_agg(json_build_array(split_part(key, ':', 2), answer) order by answered_at), '[]')
    from questions where session_id = $1 and kind = 'budget' and answered_at is not null) as answers,
  (select coalesce(json_agg(json_build_array(body ->> 'budget', (body ->> 'limit')::float8)), '[]')
    from events where session_id = $1 and kind = 'budget_warning') as warned

-- name: events_after
select n, at, kind, body from events where session_id = $1 and n > $2 order by n limit $3

-- name: stream_position
select id, event_seq, ended_at is not null as ended,
  case when ended_at is null and admitted_at is null and wake > seen then
    (select array[place, length] from session_line where id = s.id) end as queue
from sessions s where id = $1

-- name: lists_position
-- Changes with every event and name of the newest sessions, with a session that comes, goes or is archived, and with what lists say of workflows:
-- their versions, the runs that were seen, and the next times of their triggers.
select (
  select coalesce(sum(event_seq), 0) + count(*) * 1000003 + coalesce(sum(extract(epoch from ended_at)::bigint), 0)
    + coalesce(sum(hashtext(concat_ws(' ', name, archived_at))), 0)
  from (select event_seq, ended_at, name, archived_at from sessions where owner_id = $1 order by created_at desc limit 100) newest
) + (
  select count(*) * 1000003 + coalesce(sum((extract(epoch from updated_at) * 1000)::bigint), 0)
    + coalesce(sum((extract(epoch from seen_run_at) * 1000)::bigint), 0)
  from workflows where owner_id = $1
) + (
  select coalesce(sum(extract(epoch from next_at)::bigint), 0) from workflow_triggers where owner_id = $1
) + (
  select count(*) * 7919 from deletions where owner_id = $1 and done_at is null
) as position

-- name: streams_behind
select watched.id, s.id is null or s.ended_at is not null or s.event_seq > watched.seen as behind,
  line.place, line.length
from unnest($1::uuid[], $2::int[], $3::int[], $4::int[]) as watched (id, seen, place, length)
left join sessions s using (id) left join session_line line using (id)
where s.id is null or s.ended_at is not null or s.event_seq > watched.seen
  or (line.place, line.length) is distinct from (watched.place, watched.length)
