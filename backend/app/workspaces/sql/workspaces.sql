-- name: read_snapshot
-- The snapshot of turn $1 of owner $2: that of the nearest turn on the path to the root that has one.
with recursive path as (
  select t.session_id, t.parent_id, 1 as place,
    exists (select from artifacts a where a.session_id = t.session_id and a.kind = 'workspace') as has_snapshot
  from turns t join threads h on h.id = t.thread_id
  where t.session_id = $1 and h.owner_id = $2
  union all
  select t.session_id, t.parent_id, path.place + 1,
    exists (select from artifacts a where a.session_id = t.session_id and a.kind = 'workspace')
  from path join turns t on t.session_id = path.parent_id
  where not path.has_snapshot
)
select a.meta
from path join artifacts a on a.session_id = path.session_id and a.kind = 'workspace'
where path.has_snapshot
order by a.seq desc, a.created_at desc, a.id
limit 1

-- name: list_table_states
-- The tables and views of owner $2 after each turn on the path from turn $1 to the root that stored a
-- workspace, the newest first, at most $3 of them.
with recursive path as (
  select t.session_id, t.parent_id, 1 as place
  from turns t join threads h on h.id = t.thread_id
  where t.session_id = $1 and h.owner_id = $2
  union all
  select t.session_id, t.parent_id, path.place + 1 from path join turns t on t.session_id = path.parent_id
)
select newest.names
from path cross join lateral (
  select a.meta -> 'names' as names
  from artifacts a
  where a.session_id = path.session_id and a.kind = 'workspace'
  order by a.seq desc, a.created_at desc, a.id
  limit 1
) newest
order by path.place
limit $3

-- name: list_frames
-- The newest artifact of each digest with the rows of a table, and its profile.
select distinct on (digest) digest, id, meta -> 'profile' as profile
from artifacts
where owner_id = $1 and kind = 'frame' and digest = any($2::text[])
order by digest, created_at desc, id

-- name: list_files
-- The newest artifact of each digest that is a file.
select distinct on (digest) digest, id
from artifacts
where owner_id = $1 and kind not in ('frame', 'workspace', 'variables') and digest = any($2::text[])
order by digest, created_at desc, id

-- name: get_worldline
select w.id, w.thread_id, w.head_id, t.dataset_ids
from worldlines w join threads t on t.id = w.thread_id
where w.id = $1 and t.owner_id = $2 and t.deleted_at is null
