-- name: create_worldline
-- $1 worldline, $2 owner, $3 thread, $4 turn to begin after (null: before the first), $5 name, $6 most worldlines,
-- $7 was the name asked for. Sent again, it finds the worldline of its first time.
with thread as (
  select t.id, (select count(*) from worldlines w where w.thread_id = t.id) as worldlines,
    $4::uuid is null or exists (
      select from turns u where u.session_id = $4 and u.thread_id = t.id) as has_turn,
    exists (select from worldlines w where w.thread_id = t.id and w.name = $5 and w.id <> $1) as is_name_taken
  from threads t where t.id = $3 and t.owner_id = $2 and t.deleted_at is null
), created as (
  insert into worldlines (id, thread_id, name, head_id, from_turn_id)
  select $1, id, $5, $4, $4 from thread where worldlines < $6::int and has_turn and not is_name_taken
  on conflict do nothing
  returning id
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select $2, 'user', 'worldline_created', jsonb_build_object('worldline', id, 'thread', $3::uuid) from created
)
select worldlines, has_turn, is_name_taken, exists (select from created) as is_created,
  exists (select from worldlines w where w.id = $1 and w.thread_id = $3 and (not $7::boolean or w.name = $5)
    and w.from_turn_id is not distinct from $4) as is_same,
  exists (select from worldlines w where w.id = $1) as is_repeated
from thread

-- name: get_worldline
select w.id, w.thread_id, w.name, w.head_id, w.from_turn_id, w.created_at
from worldlines w join threads t on t.id = w.thread_id
where w.id = $1 and t.owner_id = $2 and t.deleted_at is null

-- name: rename_worldline
with owned as (
  select w.id, w.thread_id from worldlines w join threads t on t.id = w.thread_id
  where w.id = $1 and t.owner_id = $2 and t.deleted_at is null
), clash as (
  select 1 from worldlines w join owned on owned.thread_id = w.thread_id where w.name = $3 and w.id <> $1
), renamed as (
  update worldlines set name = $3 where id in (select id from owned) and not exists (select from clash) returning id
)
select exists (select from owned) as is_there, exists (select from renamed) as is_renamed

-- name: delete_worldline
-- Its turns stay in the thread's tree until the thread is deleted: other worldlines may begin at them.
-- `for key share` reads the other worldlines anew behind the lock of the thread: one that was deleted while this
-- statement waited does not count.
with owned as (
  select w.id, w.thread_id from worldlines w join threads t on t.id = w.thread_id
  where w.id = $1 and t.owner_id = $2 and t.deleted_at is null
  for update of t
), others as (
  select 1 from worldlines w join owned on owned.thread_id = w.thread_id where w.id <> $1
  for key share of w
), deleted as (
  delete from worldlines where id in (select id from owned) and exists (select from others) returning id
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select $2, 'user', 'worldline_deleted', jsonb_build_object('worldline', id) from deleted
)
select exists (select from owned) as is_there, exists (select from deleted) as is_deleted

-- name: find_common_turn
-- The last turn that the paths to the turns $1 and $2 share.
with recursive first_path as (
  select session_id, parent_id, 1 as place from turns where session_id = $1
  union all
  select t.session_id, t.parent_id, p.place + 1 from first_path p join turns t on t.session_id = p.parent_id
), second_path as (
  select session_id, parent_id from turns where session_id = $2
  union all
  select t.session_id, t.parent_id from second_path p join turns t on t.session_id = p.parent_id
)
select session_id from first_path where session_id in (select session_id from second_path) order by place limit 1

-- name: list_turns_since
-- The turns of a path after turn $2, oldest first, from its last turn $1.
with recursive path as (
  select session_id, parent_id, 1 as place from turns where session_id = $1 and session_id is distinct from $2::uuid
  union all
  select t.session_id, t.parent_id, p.place + 1
  from path p join turns t on t.session_id = p.parent_id
  where t.session_id is distinct from $2::uuid and p.place < $3::int
)
select p.session_id as turn_id, s.goal as message, t.mode
from path p join turns t using (session_id) join sessions s on s.id = p.session_id
order by p.place desc
