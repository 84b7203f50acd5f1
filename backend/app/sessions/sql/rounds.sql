-- name: claim
update fits f set
  fence = f.fence + 1, status = 'running', runs = f.runs + 1, started_at = now(),
  lease_until = now() + $4 * interval '1 second'
from sessions s, rounds r
where f.session_id = $1 and f.round_key = $2 and f.candidate = $3
  and s.id = f.session_id and s.ended_at is null and not s.cancel and s.paused_at is null
  -- Past the deadline the session closes the round without this fit.
  and r.session_id = f.session_id and r.round_key = f.round_key and r.deadline_at > now()
  and (f.status = 'queued' or (f.status = 'running' and f.lease_until < now()))
returning f.fence, f.name, f.spec, f.runs, s.owner_id,
  extract(epoch from r.deadline_at - now())::float8 as left_s

-- name: renew
update fits f set lease_until = now() + $5 * interval '1 second'
from sessions s, rounds r
where f.session_id = $1 and f.round_key = $2 and f.candidate = $3 and f.fence = $4 and f.status = 'running'
  and s.id = f.session_id and s.ended_at is null
  and r.session_id = f.session_id and r.round_key = f.round_key
returning s.cancel

-- name: finish
with f as (
  update fits set status = $5, result = $6::json, ended_at = now(), lease_until = null
  where session_id = $1 and round_key = $2 and candidate = $3 and fence = $4 and status = 'running'
  returning 1
), r as (
  -- Only by who has ended the fit: a result that comes twice counts once.
  update rounds set fits_left = fits_left - 1
  where session_id = $1 and round_key = $2 and exists (select from f)
  returning fits_left
), s as (
  update sessions set
    -- A cancelled session can end as soon as its last fit has.
    wake = wake + (r.fits_left = 0 or cancel)::int,
    queued_at = case when r.fits_left = 0 or cancel then now() else queued_at end,
    event_seq = event_seq + 1
  from r
  where id = $1 and ended_at is null
  returning id, event_seq, r.fits_left = 0 or cancel as woken
), e as (
  insert into events (session_id, n, kind, body, at) select id, event_seq, 'fit_finished', $7::json, $8 from s
)
select event_seq, woken from s

-- name: give_back
-- `runs - 1`: the stop of a worker is no crash of the fit.
update fits set status = 'queued', lease_until = null, queued_at = now(), runs = runs - 1
where session_id = $1 and round_key = $2 and candidate = $3 and fence = $4 and status = 'running'
returning 1

-- name: requeue
update fits set queued_at = now()
where (session_id, round_key, candidate) in (
  select f.session_id, f.round_key, f.candidate
  from fits f join sessions s on s.id = f.session_id
  where s.ended_at is null and not s.cancel and s.paused_at is null and f.queued_at < now() - $1 * interval '1 second'
    and (f.status = 'queued' or (f.status = 'running' and f.lease_until < now()))
  order by f.queued_at limit 200 for update of f skip locked)
returning session_id, round_key, candidate

-- name: read_round
select f.name, f.status, f.result, f.status in ('queued', 'running') as open, r.deadline_at < now() as overdue
from rounds r join fits f using (session_id, round_key)
where r.session_id = $1 and r.round_key = $2
order by f.candidate

-- name: open_round
, round as (
  insert into rounds (session_id, round_key, fits_left, deadline_at)
  select id, $8, cardinality($9::text[]), now() + $11 * interval '1 second' from s
), fits_ as (
  insert into fits (session_id, round_key, candidate, name, spec)
  select s.id, $8, f.i - 1, f.name, f.spec::jsonb
  from s, unnest($9::text[], $10::text[]) with ordinality as f(name, spec, i)
)

-- name: close_round
, fits_ as (
  update fits set status = 'left_out', ended_at = now(), lease_until = null
  where session_id = (select id from s) and round_key = $8 and status in ('queued', 'running')
), round as (
  update rounds set fits_left = 0 where session_id = (select id from s) and round_key = $8
)
