-- name: list_items
-- $1 owner, $2 most characters of a text, $3 limit, $4 offset, $5 most items that are counted
with open_questions as (
  -- The oldest of each session: it is the one that is asked first.
  select distinct on (q.session_id) q.session_id, q.body ->> 'text' as text, q.asked_at
  from questions q join sessions s on s.id = q.session_id
  where s.owner_id = $1 and s.ended_at is null and q.answered_at is null
  order by q.session_id, q.asked_at
), items as (
  select 'study' as kind, s.id, coalesce(s.name, s.goal) as title, q.text, q.asked_at as since,
    null::uuid as thread_id, null::uuid as worldline_id, null::uuid as workflow_id
  from open_questions q join sessions s on s.id = q.session_id
  where s.class = 'study' and s.status = 'awaiting_user' and s.archived_at is null
    and s.id not in (select target_id from deletions where kind = 'session' and done_at is null)
  union all
  select 'turn', s.id, h.title, q.text, q.asked_at, h.id, t.worldline_id, null
  from open_questions q join sessions s on s.id = q.session_id
    join turns t on t.session_id = s.id join threads h on h.id = t.thread_id
  where s.graph = 'chat' and h.deleted_at is null
  union all
  select 'run', s.id, w.name, q.text, q.asked_at, null, null, w.id
  from open_questions q join sessions s on s.id = q.session_id
    join workflows w on w.owner_id = $1 and w.id::text = s.preferences #>> '{workflow,id}'
  where s.graph = 'workflow' and s.status = 'awaiting_user'
  union all
  -- Of another version than the current one it can only be rejected.
  select 'proposal', p.id, w.name, p.summary, p.created_at, null, null, w.id
  from workflow_proposals p join workflows w on w.id = p.workflow_id and w.version = p.version
  where p.owner_id = $1 and p.status = 'open'
)
select kind, id, left(title, $2::int) as title, left(coalesce(text, ''), $2::int) as text, since, thread_id,
  worldline_id, workflow_id,
  (select count(*) from (select from items limit $5) as few) as total
from items order by since, id limit $3 offset $4
