-- name: get_data_key
select kid, wrapped from data_keys where id = 1

-- name: create_data_key
insert into data_keys (id, kid, wrapped) values (1, $1, $2) on conflict (id) do nothing

-- name: rewrap_data_key
-- $3 the name of the key that it was wrapped by: of two services that do so at once the first wins.
update data_keys set kid = $1, wrapped = $2, updated_at = now() where id = 1 and kid = $3

-- name: put_secret
-- $4 most secrets
with put as (
  insert into secrets (owner_id, name, sealed)
  select $1, $2, $3 where (select count(*) from secrets where owner_id = $1) < $4::int
    or exists (select from secrets where owner_id = $1 and name = $2)
  on conflict (owner_id, name) do update set sealed = excluded.sealed, updated_at = now()
  returning name, created_at, updated_at
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select $1, 'user', 'secret_written', jsonb_build_object('secret', name) from put
)
select name, created_at, updated_at from put

-- name: list_secrets
select name, created_at, updated_at from secrets where owner_id = $1 order by name

-- name: get_secret
select name, created_at, updated_at from secrets where owner_id = $1 and name = $2

-- name: read_sealed
select sealed from secrets where owner_id = $1 and name = $2

-- name: delete_secret
with gone as (delete from secrets where owner_id = $1 and name = $2 returning name)
insert into audit (owner_id, actor, action, detail)
select $1, 'user', 'secret_deleted', jsonb_build_object('secret', name) from gone
returning id

-- name: forget_secrets
with gone as (delete from secrets returning 1), key as (delete from data_keys)
select count(*) from gone

-- name: list_hosts
select host from request_hosts where owner_id = $1 order by host

-- name: replace_hosts
with gone as (
  delete from request_hosts where owner_id = $1 and not host = any($2::text[])
), added as (
  insert into request_hosts (owner_id, host) select $1, unnest($2::text[]) on conflict do nothing
)
insert into audit (owner_id, actor, action, detail)
values ($1, 'user', 'request_hosts_replaced', jsonb_build_object('hosts', to_jsonb($2::text[])))
