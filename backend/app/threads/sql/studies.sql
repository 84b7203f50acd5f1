-- name: list_study_ids
-- The studies that the turns from turn $1 of owner $2 back to the root started, the oldest turn first.
with recursive path as (
  select t.session_id, t.parent_id, 1 as place from turns t join threads h on h.id = t.thread_id
  where t.session_id = $1 and h.owner_id = $2 and h.deleted_at is null
  union all
  select t.session_id, t.parent_id, path.place + 1 from path join turns t on t.session_id = path.parent_id
)
select distinct on (study.id) study.id::uuid as id, path.place
from path join sessions s on s.id = path.session_id
cross join lateral json_array_elements_text(coalesce(s.result -> 'studies', '[]'::json)) as study(id)
order by study.id, path.place desc

-- name: find_model
-- The model that study $1 of owner $2 chose; others may be newer.
select a.digest from artifacts a join sessions s on s.id = a.session_id
where s.id = $1 and a.owner_id = $2 and a.kind = 'model' and a.id::text = s.result ->> 'model'

-- name: list_live_studies
-- The studies of owner $2 that turns of thread $1 started and that have not ended.
select study.id, true as is_study, true as is_live, study.created_at, study.event_seq
from sessions study
where study.owner_id = $2 and study.class = 'study' and study.ended_at is null and exists (
  select from turns t join sessions s on s.id = t.session_id
  cross join lateral json_array_elements_text(coalesce(s.result -> 'studies', '[]'::json)) as started(id)
  where t.thread_id = $1 and started.id = study.id::text)
order by study.created_at
