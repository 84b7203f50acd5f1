-- name: move_tag
-- $1 workflow, $2 owner, $3 tag, $4 version, $5 version of the tag that was read: 0 if there was none, null for any,
-- $6 most tags
with target as (
  -- Locked, so that the version is not pruned before it is tagged.
  select v.workflow_id, v.n from workflow_versions v join workflows w on w.id = v.workflow_id
  where w.id = $1 and w.owner_id = $2 and v.n = $4 for key share of v
), present as (
  select name from workflow_tags where workflow_id = $1
), moved as (
  insert into workflow_tags as t (workflow_id, name, version)
  select workflow_id, $3, n from target
  where $3 in (select name from present)
    or (coalesce($5::int, 0) = 0 and (select count(*) from present) < $6::int)
  on conflict (workflow_id, name) do update set version = excluded.version, moved_at = now()
  where $5::int is null or t.version = $5::int
  returning t.name, t.version, t.moved_at
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select $2, 'user', 'workflow_tag_moved', jsonb_build_object('workflow', $1::uuid, 'tag', name, 'version', version) from moved
)
select name, version, moved_at from moved

-- name: list_tags
select t.name, t.version, t.moved_at from workflow_tags t join workflows w on w.id = t.workflow_id
where w.id = $1 and w.owner_id = $2 order by t.name

-- name: delete_tag
with gone as (
  delete from workflow_tags t using workflows w
  where w.id = t.workflow_id and w.id = $1 and w.owner_id = $2 and t.name = $3
  returning t.name, t.version
)
insert into audit (owner_id, actor, action, detail)
select $2, 'user', 'workflow_tag_deleted', jsonb_build_object('workflow', $1::uuid, 'tag', name, 'version', version) from gone
returning id
