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
