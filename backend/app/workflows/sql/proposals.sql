-- name: create_proposal
-- $1 id, $2 workflow, $3 owner, $4 version, $5 message, $6 summary, $7 operations, $8 document, $9 proposals to keep
with made as (
  insert into workflow_proposals (id, workflow_id, owner_id, version, message, summary, operations, document)
  select $1, w.id, $3, $4, $5, $6, $7::json, $8::json from workflows w where w.id = $2 and w.owner_id = $3
  on conflict (id) do nothing
  returning id
), pruned as (
  delete from workflow_proposals where id in (
    select id from workflow_proposals where workflow_id = $2 order by created_at desc, id offset $9::int)
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select $3, 'user', 'workflow_change_proposed', jsonb_build_object('workflow', $2::uuid, 'proposal', id) from made
)
select id from made

-- name: get_proposal
select p.id, p.workflow_id, p.version, p.message, p.summary, p.operations, p.document, p.status, p.created_at,
  p.decided_at, coalesce(v.document, '{"nodes": [], "edges": []}'::json) as before
from workflow_proposals p left join workflow_versions v on v.workflow_id = p.workflow_id and v.n = p.version
where p.id = $1 and p.owner_id = $2

-- name: list_proposals
select p.id, p.workflow_id, p.version, p.message, p.summary, p.operations, p.document, p.status, p.created_at,
  p.decided_at, coalesce(v.document, '{"nodes": [], "edges": []}'::json) as before
from workflow_proposals p left join workflow_versions v on v.workflow_id = p.workflow_id and v.n = p.version
where p.workflow_id = $1 and p.owner_id = $2
order by p.created_at desc, p.id desc
limit $3 offset $4

-- name: reject_proposal
with decided as (
  update workflow_proposals set status = 'rejected', decided_at = now()
  where id = $1 and owner_id = $2 and status = 'open' returning id, workflow_id
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select $2, 'user', 'workflow_change_rejected', jsonb_build_object('workflow', workflow_id, 'proposal', id) from decided
)
select id from decided

-- name: accept_proposal
-- $1 id, $2 owner, $3 versions to keep, $4 and $5 kind and reference of the author. The proposal and the new version are one statement: neither is lost.
with moved as (
  update workflows w set version = w.version + 1, updated_at = now()
  from workflow_proposals p
  where p.id = $1 and p.owner_id = $2 and p.status = 'open' and w.id = p.workflow_id and w.version = p.version
  returning w.id, w.version, p.message, p.operations, p.document
), decided as (
  update workflow_proposals p set status = 'accepted', decided_at = now() from moved
  where p.id = $1 and p.status = 'open' returning p.id
), added as (
  insert into workflow_versions (workflow_id, n, document, patch, message, author_kind, author_ref)
  select id, version, document, operations, message, $4, $5::uuid from moved
), pruned as (
  delete from workflow_versions v using moved where v.workflow_id = moved.id and v.n <= moved.version - $3::int
    and not exists (select from workflow_tags t where t.workflow_id = v.workflow_id and t.version = v.n)
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select $2, 'user', 'workflow_changed', jsonb_build_object('workflow', id, 'version', version, 'proposal', $1::uuid)
  from moved
)
select version from moved
