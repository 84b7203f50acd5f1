-- name: create
with own as (
  select coalesce((quotas ->> 'sessions')::int, $9::int) as max_live,
    -- Without any limit nobody has to be admitted.
    coalesce((quotas ->> 'running_sessions')::int, $12::int) + $11::int > 0 as needs_admission
  from users where id = $2
), owned as (
  select count(*) as n from datasets where id = any($6::uuid[]) and owner_id = $2
), kind as (
  select case when $3 in ('run', 'workflow') then 'run' when $3 = 'job' then 'job' else 'study' end as class
), live as (
  -- Each class is counted by itself: whoever runs programs may start as many studies as before.
  select count(*) as n from (
    -- Rows beyond the limit are not counted: an owner may have very many.
    select from sessions where owner_id = $2 and ended_at is null and class = (select class from kind)
    limit (select nullif(max_live, 0) from own)) as few
), parent as (
  -- The lock orders this with a cancel of the run: either that finds the session, or nothing is started.
  select graph <> 'workflow' or (ended_at is null and not cancel) as may_start from sessions where id = $10 for share
), s as (
  insert into sessions (id, owner_id, graph, class, goal, preferences, dataset_ids, seed, idempotency_key,
    parent_id, admitted_at)
  select $1, $2, $3, kind.class, $4, $5::jsonb, $6, $7, $8, $10, case when not own.needs_admission then now() end
  from own, owned, kind, live
  where owned.n = cardinality($6::uuid[]) and (own.max_live = 0 or live.n < own.max_live)
    and ($10::uuid is null or exists (select from parent where may_start))
  -- The same id or idempotency key: the caller then reads the session that exists.
  on conflict do nothing
  returning id, created_at, admitted_at
), message as (
  insert into messages (session_id, seq, n, role, text) select id, 0, 1, 'user', $4 from s
), trail as (
  insert into audit (owner_id, session_id, actor, action) select $2, id, 'user', 'session_created' from s
)
select owned.n as owned_datasets, own.max_live, s.created_at,
  $10::uuid is null or exists (select from parent where may_start) as may_start,
  case when s.id is null then '{}' when s.admitted_at is not null then array[s.id]
    else array(select admit_sessions($11::int, $12::int, $13::int)) end as admitted
from owned cross join own left join s on true

-- name: find_created
select id, status, created_at,
  goal = $4 and preferences = $5::jsonb and dataset_ids = $6 and forked_from is null as is_same_request
from sessions where owner_id = $2 and (id = $1 or idempotency_key = $3)

-- name: find_question
select s.ended_at, s.status, q.key, q.body, q.answered_at
from sessions s left join questions q on q.session_id = s.id and
  case when $3::text is null then q.answered_at is null else q.key = $3 end
where s.id = $1 and s.owner_id = $2
order by q.asked_at
limit 1

-- name: answer
with q as (
  update questions set answer = $3::json, answered_by = 'user', answered_at = $4
  where session_id = $1 and key = $2 and answered_at is null
    and exists (select from sessions where id = $1 and ended_at is null)
  returning key
), s as (
  update sessions set
    wake = wake + 1, event_seq = event_seq + 1, queued_at = now(),
    deadline_at = deadline_at + $7::float8 * interval '1 second',
    status = case when status = 'awaiting_user' then 'queued' else status end
  from q where id = $1
  returning id, owner_id, event_seq, last_seq
), e as (
  insert into events (session_id, n, kind, body, at)
  select id, event_seq, 'clarification_answered', $5::json, $4 from s
), message as (
  -- Negative: apart from the numbers of messages that steps post.
  insert into messages (session_id, seq, n, role, text) select id, last_seq + 1, -event_seq, 'user', $6 from s
), trail as (
  insert into audit (owner_id, session_id, actor, action, detail)
  select owner_id, id, 'user', 'question_answered', jsonb_build_object('question', $2::text) from s
)
select event_seq from s

-- name: cancel
with s as (
  select cancel_sessions(array(select id from sessions where id = $1 and owner_id = $2)) as id
), trail as (
  insert into audit (owner_id, session_id, actor, action) select $2, id, 'user', 'session_cancel_asked' from s
)
select id from s

-- name: pause
-- $3 now, $4 body of the event. Without a driver the session is paused at once; a driver ends its step first, and
-- hands the session back. The lease of a dead one ends here, which leaves its work due.
with s as (
  update sessions set
    paused_at = $3,
    event_seq = event_seq + 1,
    status = case when lease_until > now() then status else 'paused' end,
    waiting_since = case
      when lease_until > now() or started_at is null then waiting_since
      else coalesce(waiting_since, now()) end,
    admitted_at = case when lease_until > now() then admitted_at end,
    wake = wake + coalesce((lease_until <= now())::int, 0),
    lease_until = case when lease_until > now() then lease_until end
  where id = $1 and owner_id = $2 and class = 'study' and ended_at is null and not cancel and paused_at is null
  returning id, event_seq, status
), e as (
  insert into events (session_id, n, kind, body, at) select id, event_seq, 'session_paused', $4::json, $3 from s
), trail as (
  insert into audit (owner_id, session_id, actor, action) select $2, id, 'user', 'session_paused' from s
)
select event_seq, status from s

-- name: resume
-- $3 now, $4 body of the event. The clock of the session runs again once it is claimed: also one that waits for
-- fits has to be admitted for that, and its driver then looks at what it waits for.
with paused as (
  select id, paused_at, greatest(paused_at, waiting_since) as stopped_at,
    exists (select from questions where session_id = $1 and answered_at is null) as for_user
  from sessions
  where id = $1 and owner_id = $2 and ended_at is null and not cancel and paused_at is not null for update
), s as (
  update sessions s set
    paused_at = null,
    event_seq = event_seq + 1,
    queued_at = now(),
    wake = wake + (not p.for_user)::int,
    status = case
      when s.status <> 'paused' then s.status
      when p.for_user then 'awaiting_user'
      else 'queued' end
  from paused p where s.id = p.id
  returning s.id, s.event_seq, s.status
), r as (
  update rounds set deadline_at = deadline_at + (now() - p.stopped_at)
  from paused p where session_id = p.id and fits_left > 0
), e as (
  insert into events (session_id, n, kind, body, at) select id, event_seq, 'session_resumed', $4::json, $3 from s
), trail as (
  insert into audit (owner_id, session_id, actor, action) select $2, id, 'user', 'session_resumed' from s
)
select event_seq, status, (
  select coalesce(json_agg(json_build_array(round_key, candidate)), '[]')
  from fits where session_id = $1 and status = 'queued') as open_fits
from s

-- name: find_pause
select class as class_, status, ended_at, cancel, paused_at from sessions where id = $1 and owner_id = $2

-- name: find_end
select ended_at from sessions where id = $1 and owner_id = $2

-- name: claim
with s as (
  update sessions s set
    fence = fence + 1,
    -- In the same UPDATE: what is asked for from now on makes the session due again.
    seen = wake,
    status = case when cancel then 'cancelling' else 'running' end,
    -- A lease that is still set has run out: whoever held it is dead or cut off.
    crashes = crashes + (lease_until is not null)::int,
    event_seq = event_seq + (fence = 0)::int,
    -- The version of the first driver stays.
    graph_version = coalesce(graph_version, ($4::jsonb -> graph ->> 0)::int),
    stranded_at = null,
    started_at = coalesce(started_at, now()),
    -- Set by the first claim; later ones move it by the time that the session has waited.
    deadline_at = coalesce(
      deadline_at + coalesce(now() - waiting_since, interval '0'),
      now() + interval '1 second' *
        coalesce((preferences #>> '{budget,seconds}')::float8 + $5::float8, $3::float8)),
    waited_s = waited_s + coalesce(extract(epoch from now() - waiting_since), 0),
    waiting_since = null,
    lease_until = now() + $2 * interval '1 second'
  where id = $1 and ended_at is null
    and (lease_until < now() or (lease_until is null and wake > seen))
    -- A cancelled session only has to end, which takes no place.
    and (admitted_at is not null or cancel)
    -- Whoever takes over from a dead driver of a paused session hands it back at once.
    and (paused_at is null or cancel or lease_until < now())
    and (can_drive($4::jsonb, graph, graph_version) or cancel or deadline_at < now()
      or stranded_at < now() - $6 * interval '1 second')
  returning *
), e as (
  insert into events (session_id, n, kind, body, at)
  select id, event_seq, 'session_started',
    json_build_object('kind', 'session_started', 'goal', goal), started_at
  from s where fence = 1
  returning body, at
)
select s.id, s.owner_id, s.goal, s.preferences, s.dataset_ids, s.seed, s.created_at, s.graph, s.graph_version,
  s.fence, s.last_seq, s.crashes, s.event_seq, s.cancel, s.deadline_at < now() as overdue,
  s.paused_at is not null as paused,
  (extract(epoch from now() - s.started_at) - s.waited_s + s.inherited_s)::float8 as worked_s, s.inherited_s,
  s.forked_from, s.fork, coalesce(s.datasets_at, s.created_at) as datasets_at,
  extract(epoch from s.started_at - s.created_at)::float8 as queued_s,
  -- A subquery sees the row as it was before this statement.
  (select lease_until is not null from sessions where id = $1) as taken_over,
  e.body as started, e.at as started_at
from s left join e on true

-- name: renew
-- A renewal that overtakes the hand-back of its own driver must not take the lease again: nobody would release it.
update sessions set lease_until = now() + $3 * interval '1 second'
where id = $1 and fence = $2 and ended_at is null and lease_until is not null
returning cancel, deadline_at < now() as overdue, paused_at is not null as paused

-- name: hand_back
with w as (
  select
    exists (select from questions where session_id = $1 and answered_at is null) as for_user,
    exists (select from rounds where session_id = $1 and fits_left > 0) as for_fits,
    -- Whoever waits for another session or for a time gives its place up: others may need it.
    exists (select from sessions where id = $1 and wait_until is not null) as is_idle
)
update sessions set
  lease_until = null,
  queued_at = now(),
  wake = wake + $3::int,
  -- The clock stands while the session waits for its user, another session or a time: fits are work of its own.
  waiting_since = case when ($3 = 0 and (w.for_user or w.is_idle)) or paused_at is not null then now() end,
  admitted_at = case
    when ($3 = 0 and (w.for_user or w.is_idle)) or paused_at is not null then null
    else admitted_at end,
  status = case
    when cancel then 'cancelling'
    when paused_at is not null then 'paused'
    when $3 = 1 then 'queued'
    when w.for_user then 'awaiting_user'
    when w.for_fits then 'awaiting_fits'
    else 'queued' end
from w
where id = $1 and fence = $2 and ended_at is null
returning wake > seen as more

-- name: end_session
with s as (
  update sessions set
    lease_until = null, status = $3, error = $4::jsonb, result = $5::json,
    event_seq = event_seq + 1, ended_at = clock_timestamp()
  where id = $1 and fence = $2 and ended_at is null
    -- `cancelled` promises that nothing of the session runs any more.
    and not ($3 = 'cancelled' and exists (
      select from fits where session_id = $1 and status = 'running' and lease_until > now()))
  returning id, event_seq, after_id, graph
), studies as (
  -- A run of a workflow that fails as a whole (its time is over) has no use for the studies that it started. One that
  -- another session waits for goes on.
  update sessions study set
    wake = study.wake + (not study.cancel)::int, queued_at = now(), cancel = true, status = 'cancelling'
  from s
  where $3 = 'failed' and s.graph = 'workflow' and study.parent_id = s.id and study.ended_at is null
    and not exists (
      select from sessions other
      where other.after_id = study.id and other.id <> s.id and other.ended_at is null and not other.cancel)
  returning study.id
), followers as (
  -- A session that ends before its predecessor (a cancelled one) leaves its followers to that.
  select f.id, exists (select from sessions p where p.id = s.after_id and p.ended_at is null) as waits_on
  from s join sessions f on f.after_id = s.id and f.ended_at is null
    and (f.wake = 0 or f.wait_until is not null)
), woken as (
  update sessions f set
    wake = wake + (not w.waits_on)::int,
    queued_at = now(),
    after_id = case when w.waits_on then s.after_id else f.after_id end
  from followers w, s where f.id = w.id
  returning f.id, w.waits_on
), e as (
  insert into events (session_id, n, kind, body, at) select id, event_seq, $6, $7::json, $8 from s
), f as (
  update fits set status = 'cancelled', ended_at = now(), lease_until = null
  where session_id in (select id from s) and status in ('queued', 'running')
)
select event_seq, array(select id from woken where not waits_on) as woken, array(select id from studies) as cancelled
from s

-- name: wake_forgotten
-- No other statement wakes these: past the deadline of the session or of a round, cancelled while the worker of
-- the last fit died, or created while the session before them ended. A wait ends at its time, and one for another
-- session also where it was begun while that session ended.
update sessions s set wake = wake + 1, queued_at = now()
where id in (
  select id from sessions s
  where ended_at is null and lease_until is null and wake = seen and (
    (deadline_at < now() and waiting_since is null)
    or (wake = 0 and not exists (select from sessions p where p.id = s.after_id and p.ended_at is null))
    or (paused_at is null and wait_until is not null and (wait_until < now()
      or (after_id is not null
        and not exists (select from sessions p where p.id = s.after_id and p.ended_at is null))))
    or (paused_at is null and exists (
      select from rounds r where r.session_id = s.id and r.fits_left > 0 and r.deadline_at < now()))
    or (cancel and not exists (
      select from fits f where f.session_id = s.id and f.status = 'running' and f.lease_until > now())))
  -- Every worker sweeps at the same time: rows that another pass has locked are left to it.
  limit 200 for update skip locked)
returning id

-- name: requeue
-- Its age begins anew, so that the next sweep does not send it once more.
update sessions set queued_at = now()
where id in (
  select id from sessions
  where ended_at is null and queued_at < now() - $1 * interval '1 second'
    and (lease_until < now() or (lease_until is null and wake > seen))
    and (admitted_at is not null or cancel)
  order by queued_at limit 200 for update skip locked)
returning id

-- name: admit
-- The queue is mostly empty, and the function takes locks that many share.
select unnest(case when exists (
    select from sessions where ended_at is null and admitted_at is null and wake > seen and not cancel and paused_at is null)
  then array(select admit_sessions($1, $2, $3)) end) as id
