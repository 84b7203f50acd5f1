-- name: guard
-- $1 session, $2 fence, $3 step, $4 lease in seconds, $5 now, $6 and $7 the events' kinds and bodies.
-- A statement is a guard, what it inserts from `s` ($8 and on), and RESULT.
with s as (
  update sessions set
    -- A write is progress: crashes are counted between two writes.
    crashes = 0, event_seq = event_seq + cardinality($6::text[]), lease_until = now() + $4 * interval '1 second'
  where id = $1 and fence = $2 and last_seq = $3 - 1 and ended_at is null
  returning id, owner_id, event_seq, cancel, deadline_at < now() as overdue, paused_at is not null as paused,
    (extract(epoch from now() - started_at) - waited_s + inherited_s)::float8 as worked_s
), events_ as (
  insert into events (session_id, n, kind, body, at)
  select s.id, s.event_seq - cardinality($6::text[]) + e.i, e.kind, e.body::json, $5
  from s, unnest($6::text[], $7::text[]) with ordinality as e(kind, body, i)
)

-- name: wait_columns
-- Columns of `guard` that begin, go on with or end a wait: $8 the other session, $9 seconds, $10 whether an open
-- question of the other one ends it.
(after_id, wait_until) = (select p.id, coalesce(sessions.wait_until, now() + $9 * interval '1 second')
      from sessions p where p.id = $8 and p.ended_at is null and coalesce(sessions.wait_until > now(), true)
        and not ($10 and exists (select from questions q where q.session_id = p.id and q.answered_at is null)))

-- name: time_wait_columns
-- Columns of `guard` that begin a wait for the time $8, go on with the one that is open, or end it once that has come.
(after_id, wait_until) = (select null::uuid, coalesce(sessions.wait_until, $8::timestamptz)
      where coalesce(sessions.wait_until, $8::timestamptz) > now())

-- name: wake_waiting
-- Those that wait for session $1 look at it again: it asks something. A run of a workflow waits for the end of its
-- study, whatever that asks.
update sessions set wake = wake + 1, queued_at = now()
where after_id = $1 and wait_until is not null and ended_at is null and graph <> 'workflow'
returning id

-- name: is_waiting
select wait_until is not null from sessions where id = $1

-- name: fenced_result
select event_seq, cancel, overdue, paused from s

-- name: insert_step
, step as (
  insert into steps (session_id, seq, node, update, fence, started_at, worked_s)
  select id, $3, $8, $9::json, $2, $10, worked_s from s
)

-- name: insert_call
, call as (
  insert into calls (session_id, seq, key, kind, name, agent, request_digest, request, result, failed, fence,
    started_at, duration_ms, usage, worked_s)
  select id, $3, $8, c.kind, c.name, c.agent, c.request_digest, coalesce(c.request, 'null'), $9::json, c.failed,
    $2, $10, c.duration_ms, c.usage, s.worked_s
  from s, json_to_record($11::json) as c(kind text, name text, agent text, request_digest text, request json,
    failed boolean, duration_ms float8, usage jsonb)
)

-- name: insert_artifacts
, artifacts_ as (
  insert into artifacts (id, owner_id, session_id, seq, call_key, kind, name, media_type, digest, size_bytes,
    meta)
  select a.id, s.owner_id, s.id, $3, {call_key}, a.kind, a.name, a.media_type, a.digest, a.size_bytes, a.meta
  from s, json_to_recordset({artifacts}::json) as a(id uuid, kind text, name text, media_type text, digest text,
    size_bytes bigint, meta jsonb)
)

-- name: insert_messages
, messages_ as (
  insert into messages (session_id, seq, n, role, text)
  select s.id, $3, m.i, m.role, m.text
  from s, unnest($12::text[], $13::text[]) with ordinality as m(role, text, i)
)

-- name: steps_from
select seq, node, update from steps where session_id = $1 and seq >= $2

-- name: calls_of_step
select key, request_digest, result from calls where session_id = $1 and seq = $2

-- name: fence_of_step
select fence from steps where session_id = $1 and seq = $2

-- name: fence_of_call
select fence from calls where session_id = $1 and seq = $2 and key = $3

-- name: find_answer
select answer, answered_at is not null as is_answered from questions where session_id = $1 and key = $2

-- name: insert_question
, question as (
  insert into questions (session_id, key, kind, agent, body, answer, answered_by, answered_at)
  select id, $8, $9, $10, $11::json, $12::json, $13, case when $13::text is not null then $5 end from s
)
