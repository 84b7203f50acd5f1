-- name: find_place
-- The worldline to continue: by worldline, else the first one of the thread.
select t.id as thread_id, w.id as worldline_id, w.head_id
from threads t join worldlines w on w.thread_id = t.id
where t.owner_id = $1 and t.deleted_at is null and ($2::uuid is null or t.id = $2) and ($3::uuid is null or w.id = $3)
order by w.created_at, w.id
limit 1

-- name: create_turn
-- $1 turn, $2 owner, $3 thread, $4 worldline, $5 its head, $6 is it a new thread, $7 message, $8 preferences,
-- $9 datasets (null: those of the thread that still exist), $10 seed, $11 idempotency key, $12 digest of the request,
-- $13 mode, $14 most open turns, $15 most running turns
with owned as (
  select count(*) as n from datasets where id = any($9::uuid[]) and owner_id = $2
), open_turns as (
  select count(*) as n from sessions where owner_id = $2 and class = 'turn' and ended_at is null
), account as (
  select u.id from users u, owned, open_turns
  where u.id = $2 and owned.n = coalesce(cardinality($9::uuid[]), 0) and open_turns.n < $14::int
), new_thread as (
  insert into threads (id, owner_id, title, dataset_ids)
  select $3, id, left($7, 120), coalesce($9::uuid[], '{}') from account where $6::boolean
  returning id, dataset_ids
), new_worldline as (
  insert into worldlines (id, thread_id, name, head_id) select $4, id, 'main', $1 from new_thread
  returning thread_id
), touched as (
  -- The thread's own, not those that were read before: they may have been changed since.
  update threads t set updated_at = now(), dataset_ids = coalesce($9::uuid[], array(
    select d.id from unnest(t.dataset_ids) with ordinality as d (id, place)
    where exists (select from datasets where id = d.id and owner_id = $2)
    order by d.place))
  from account
  where not $6::boolean and t.id = $3 and t.owner_id = $2 and t.deleted_at is null
  returning t.id, t.dataset_ids
), moved as (
  -- A compare-and-set: of two messages at once, the second one finds another head and is sent again.
  update worldlines w set head_id = $1
  from touched
  where w.id = $4 and w.thread_id = touched.id and w.head_id is not distinct from $5::uuid
  returning w.thread_id
), predecessor as (
  select id from sessions where id = $5 and ended_at is null
), s as (
  insert into sessions (id, owner_id, graph, class, goal, preferences, dataset_ids, seed, idempotency_key,
    request_digest, admitted_at, wake, after_id)
  select $1, $2, 'chat', 'turn', $7, $8::jsonb, thread.dataset_ids, $10, $11, $12, null,
    (select count(*) = 0 from predecessor)::int, (select id from predecessor)
  from (select thread_id from new_worldline union all select thread_id from moved) as w
  join (select id, dataset_ids from new_thread union all select id, dataset_ids from touched) as thread
    on thread.id = w.thread_id
  returning id, created_at, wake
), turn as (
  insert into turns (session_id, thread_id, worldline_id, parent_id, mode) select id, $3, $4, $5, $13 from s
), message as (
  insert into messages (session_id, seq, n, role, text) select id, 0, 1, 'user', $7 from s
), trail as (
  insert into audit (owner_id, session_id, actor, action) select $2, id, 'user', 'turn_created' from s
)
select owned.n as owned_datasets, open_turns.n as open_turns, exists (select from account) as is_admitted,
  s.created_at,
  -- Here and not in a statement of its own: a turn with a free place begins without another round trip.
  case when s.wake = 1 then array(select admit_turns($2, $15::int)) else '{}' end as admitted
from owned cross join open_turns left join s on true

-- name: find_turn_of_request
select s.id, t.thread_id, t.worldline_id, s.request_digest = $4 as is_same_request
from sessions s left join turns t on t.session_id = s.id
where s.owner_id = $1 and (s.id = $2 or s.idempotency_key = $3)

-- name: turn_columns
t.session_id as id, t.thread_id, t.worldline_id, t.parent_id, t.mode, s.goal as message, s.status, s.created_at,
  s.started_at, s.ended_at, s.error, s.result, s.event_seq, s.dataset_ids,
  s.after_id is not null and s.wake = 0 as is_waiting,
  case when s.ended_at is null and s.admitted_at is null and s.wake > s.seen then
    (select json_build_object('position', place, 'length', length) from session_line where id = s.id) end as queue,
  case when s.ended_at is null then (select json_build_object('key', q.key, 'kind', q.kind, 'agent', q.agent,
      'body', q.body, 'asked_at', q.asked_at)
    from questions q where q.session_id = s.id and q.answered_at is null order by q.asked_at limit 1) end
    as question,
  (select coalesce(json_agg(json_build_object('id', a.id, 'kind', a.kind, 'name', a.name,
      'media_type', a.media_type, 'size_bytes', a.size_bytes, 'digest', a.digest) order by a.created_at, a.name), '[]')
    from artifacts a where a.session_id = s.id) as artifacts

-- name: get_turn
select -- COLUMNS
from turns t join sessions s on s.id = t.session_id
where t.session_id = $1 and s.owner_id = $2 and exists (
  select from threads h where h.id = t.thread_id and h.deleted_at is null)

-- name: list_path
-- The turns of a worldline from turn $1 back to the root, newest first.
with recursive path as (
  select t.session_id, t.parent_id, 1 as place from turns t join threads h on h.id = t.thread_id
  where t.session_id = $1 and h.owner_id = $2 and h.deleted_at is null
  union all
  select t.session_id, t.parent_id, path.place + 1 from path join turns t on t.session_id = path.parent_id
  where path.place < $3::int
)
select -- COLUMNS
from path join turns t using (session_id) join sessions s on s.id = t.session_id
order by path.place

-- name: list_before
-- What turns before turn $1 asked and answered, newest first: those after the $3 last ones, at most $4.
with recursive path as (
  select t.session_id, t.parent_id, 1 as place from turns t join threads h on h.id = t.thread_id
  where t.session_id = $1 and h.owner_id = $2 and h.deleted_at is null
  union all
  select t.session_id, t.parent_id, path.place + 1 from path join turns t on t.session_id = path.parent_id
  where path.place < $3::int + $4::int
)
select left(s.goal, $5::int) as message, left(s.result ->> 'text', $5::int) as answer, path.parent_id is null as is_first
from path join sessions s on s.id = path.session_id
where path.place > $3::int
order by path.place

-- name: list_turn_messages
select session_id, seq as step, n as number, role, text, at as created_at
from messages where session_id = any($1::uuid[]) order by session_id, at, seq, n

-- name: list_turns_awaiting_user
-- The first line of a question: a preview of what would be done follows.
select s.id as turn_id, t.thread_id, t.worldline_id, h.title, q.question, s.created_at
from sessions s join turns t on t.session_id = s.id join threads h on h.id = t.thread_id
cross join lateral (
  select split_part(q.body ->> 'text', e'\n', 1) as question, q.asked_at
  from questions q where q.session_id = s.id and q.answered_at is null order by q.asked_at limit 1
) as q
where s.owner_id = $1 and s.graph = 'chat' and s.ended_at is null and h.deleted_at is null
order by q.asked_at, s.id
limit $2 offset $3

-- name: list_threads
select t.id, t.title, t.dataset_ids, t.created_at, t.updated_at, t.archived_at,
  (select count(*) from turns where thread_id = t.id) as turns
from threads t
where t.owner_id = $1 and t.deleted_at is null and (t.archived_at is not null) = $2::boolean
  and ($3::text is null or t.title ilike $3 or exists (
    select from turns u join messages m on m.session_id = u.session_id
    where u.thread_id = t.id and m.text ilike $3))
  and ($4::timestamptz is null or (t.updated_at, t.id) < ($4, $5::uuid))
  and ($8::uuid is null or $8 = any(t.dataset_ids))
order by t.updated_at desc, t.id desc
limit $6 offset $7

-- name: count_threads
select count(*) as total from (
  select from threads t
  where t.owner_id = $1 and t.deleted_at is null and (t.archived_at is not null) = $2::boolean
    and ($3::text is null or t.title ilike $3 or exists (
      select from turns u join messages m on m.session_id = u.session_id
      where u.thread_id = t.id and m.text ilike $3))
    and ($5::uuid is null or $5 = any(t.dataset_ids))
  limit $4) as few

-- name: get_thread
select t.id, t.title, t.dataset_ids, t.created_at, t.updated_at, t.archived_at,
  (select count(*) from turns where thread_id = t.id) as turns
from threads t where t.id = $1 and t.owner_id = $2 and t.deleted_at is null

-- name: list_worldlines
select w.id, w.thread_id, w.name, w.head_id, w.from_turn_id, w.created_at
from worldlines w join threads t on t.id = w.thread_id
where w.thread_id = $1 and t.owner_id = $2 and t.deleted_at is null
order by w.created_at, w.id

-- name: update_thread
with owned as (
  select count(*) as n from datasets where id = any(coalesce($4::uuid[], '{}')) and owner_id = $2
), updated as (
  update threads set title = coalesce($3, title), dataset_ids = coalesce($4::uuid[], dataset_ids),
    archived_at = case when $5::boolean is null then archived_at
      when $5 then coalesce(archived_at, now()) end
  from owned
  where threads.id = $1 and owner_id = $2 and deleted_at is null and owned.n = cardinality(coalesce($4::uuid[], '{}'))
  returning threads.id
)
select exists (select from threads where id = $1 and owner_id = $2 and deleted_at is null) as is_there,
  exists (select from updated) as is_updated

-- name: is_turn_over
select s.ended_at is not null and s.event_seq <= $3 as over
from sessions s join turns t on t.session_id = s.id where s.id = $1 and s.owner_id = $2

-- name: list_tree
-- The turns of thread $1 after turn $2 (null: from the first one), oldest first.
select t.session_id as turn_id, t.parent_id, t.worldline_id, t.mode, left(s.goal, 200) as message, s.status,
  s.created_at, s.ended_at, s.ended_at is null and s.after_id is not null and s.wake = 0 as is_waiting,
  s.ended_at is null and exists (
    select from questions q where q.session_id = s.id and q.answered_at is null) as has_question,
  s.error is not null or json_typeof(s.result -> 'failure') = 'object' as has_failed, s.result -> 'studies' as studies
from turns t join sessions s on s.id = t.session_id
where t.thread_id = $1
  and ($2::uuid is null or (s.created_at, s.id) > (select m.created_at, m.id from sessions m where m.id = $2))
order by s.created_at, s.id
limit $3

-- name: list_thread_sessions
-- Turns of thread $1 of owner $2 for a stream of its events: live ones, those of $3, and those created after $4 (null:
-- after the newest of $3, less $5 seconds; without one the newest turn alone); of $3 also studies. No row: no thread.
with thread as (
  select id from threads where id = $1 and owner_id = $2 and deleted_at is null
), mark as (
  select coalesce($4::timestamptz, (
    select max(s.created_at) from sessions s join turns t on t.session_id = s.id
    where s.id = any($3::uuid[]) and t.thread_id = $1) - $5 * interval '1 second') as at
), selected as (
  select id from sessions where owner_id = $2 and class = 'turn' and ended_at is null
  union
  select s.id from sessions s, mark where s.owner_id = $2 and s.created_at > mark.at
  union
  select id from sessions where owner_id = $2 and id = any($3::uuid[])
  union
  (select t.session_id from mark cross join turns t join sessions s on s.id = t.session_id
   where mark.at is null and t.thread_id = $1 order by s.created_at desc limit 1)
)
select of_thread.* from thread left join (
  select s.id, s.class = 'study' as is_study, s.ended_at is null as is_live, s.created_at, s.event_seq
  from selected join sessions s using (id) left join turns t on t.session_id = s.id
  where t.thread_id = $1 or (s.class = 'study' and s.id = any($3::uuid[]))
) as of_thread on true
order by of_thread.created_at
