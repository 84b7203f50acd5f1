-- name: create_job
-- $1 id, $2 owner, $3 job id, $4 message, $5 digest of the message, $6 is it answered over the queue, $7 most open jobs
with open_jobs as (
  select count(*) as n from (select from agent_jobs where owner_id = $2 and answer is null limit $7::int) as few
), made as (
  insert into agent_jobs (id, owner_id, job_id, message, digest, is_queued)
  select $1, $2, $3, $4::json, $5, $6 from open_jobs where n < $7::int
  on conflict (owner_id, job_id) do nothing
  returning id
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select $2, 'user', 'job_created', jsonb_build_object('job', $3::text) from made
)
select id from made

-- name: job_columns
j.id, j.owner_id, j.job_id, j.message::text as message, j.digest, j.answer::text as answer, j.created_at, j.answered_at

-- name: get_job
select -- COLUMNS
from agent_jobs j where j.owner_id = $1 and j.job_id = $2

-- name: get_job_of_session
select -- COLUMNS
from agent_jobs j where j.owner_id = $1 and j.id = $2

-- name: is_job_id_taken
-- $1 job id, $2 owner. Another account waits at the queue for the answer of a job of this id.
select exists (
  select from agent_jobs where delivered_at is null and is_queued and job_id = $1 and owner_id <> $2) as is_taken

-- name: repeat_job
-- A job that came again over the queue is answered there again, with its first answer.
update agent_jobs set is_queued = true, delivered_at = null where id = $1 returning id

-- name: withdraw_job
-- A job whose session was refused: nothing has happened for it yet.
delete from agent_jobs j where id = $1 and answer is null and not exists (select from sessions where id = $1)
returning id

-- name: list_jobs
select j.job_id, coalesce(j.answer ->> 'status', case when s.status = 'queued' or s.id is null then 'queued'
  else 'running' end) as status, left(j.message ->> 'prompt', 200) as prompt, j.created_at, j.answered_at
from agent_jobs j left join sessions s on s.id = j.id
where j.owner_id = $1
order by j.created_at desc, j.id desc
limit $2 offset $3

-- name: claim_jobs
-- $1 most jobs, $2 seconds of the claim. Jobs that somebody can do something about: begin, answer or deliver. A claim
-- that its holder did not live to use runs out.
update agent_jobs j set claimed_until = now() + make_interval(secs => $2)
where j.id in (
  select d.id from agent_jobs d left join sessions s on s.id = d.id
  where d.delivered_at is null and (d.claimed_until is null or d.claimed_until < now())
    and (d.answer is not null or s.id is null or s.ended_at is not null or s.status = 'awaiting_user')
  order by d.created_at limit $1
  for update of d skip locked)
returning j.is_queued, -- COLUMNS

-- name: release_job
update agent_jobs set claimed_until = null where id = $1 returning id

-- name: has_open_jobs
select exists (select from agent_jobs where delivered_at is null)

-- name: count_open_jobs
select count(*) as n from agent_jobs where delivered_at is null and answer is null

-- name: read_outcome
select s.status, s.error::text as error, s.result::text as result, s.ended_at is not null as has_ended,
  extract(epoch from coalesce(s.ended_at, now()) - s.created_at) * 1000 as duration_ms,
  (select json_build_object('key', q.key, 'text', q.body ->> 'text', 'options', q.body -> 'options')::text
   from questions q where q.session_id = s.id and q.answered_at is null and s.ended_at is null
   order by q.asked_at limit 1) as question,
  (select coalesce(json_agg(json_build_object('id', a.id, 'digest', a.digest)), '[]')::text
   from artifacts a where a.session_id = s.id) as artifacts,
  (select coalesce(json_agg(json_build_object('name', c.name, 'ok', not c.failed,
     'duration_ms', round(c.duration_ms::numeric, 3)) order by c.seq, c.recorded_at), '[]')::text
   from calls c where c.session_id = s.id and c.kind = 'tool') as tool_calls,
  (select coalesce(sum((usage ->> 'input_tokens')::float8 + (usage ->> 'output_tokens')::float8), 0)::bigint
   from calls c where c.session_id = s.id and c.kind = 'chat') as tokens_used,
  (select coalesce(sum((usage ->> 'cached_tokens')::float8), 0)::bigint
   from calls c where c.session_id = s.id and c.kind = 'chat') as cached_tokens
from sessions s where s.id = $1 and s.owner_id = $2

-- name: save_answer
-- The first answer stays. A job that did not come over the queue is delivered by it.
with saved as (
  update agent_jobs set answer = $2::json, answered_at = now(),
    delivered_at = case when is_queued then delivered_at else now() end
  where id = $1 and answer is null
  returning owner_id, job_id
), trail as (
  insert into audit (owner_id, actor, action, detail)
  select owner_id, 'service', 'job_answered', jsonb_build_object('job', job_id, 'status', $2::json ->> 'status')
  from saved
)
select coalesce((select $2::text from saved), (select answer::text from agent_jobs where id = $1)) as answer,
  exists (select from saved) as is_first

-- name: mark_delivered
update agent_jobs set delivered_at = now() where id = $1 and answer is not null returning id

-- name: find_account
select id from users where email = $1 and disabled_at is null

-- name: list_newest_datasets
select id from datasets where owner_id = $1 order by created_at desc, id limit $2

-- name: find_datasets
-- $2 ids and names; of datasets that share a name the newest.
select w.word, (select d.id from datasets d where d.owner_id = $1 and (d.id::text = lower(w.word) or d.name = w.word)
  order by d.created_at desc, d.id limit 1) as id
from unnest($2::text[]) with ordinality as w(word, place) order by w.place

-- name: find_workflows
select id from workflows where owner_id = $1 and (id::text = lower($2) or name = $2) limit 2

-- name: list_earlier
-- Ended jobs of owner $1 that name the session $2, before job $3; the newest $4, oldest first.
select message, result, created_at from (
  select j.message ->> 'prompt' as message, s.result::text as result, j.created_at
  from agent_jobs j join sessions s on s.id = j.id
  where j.owner_id = $1 and j.message #>> '{context,session_id}' = $2 and j.id <> $3 and s.ended_at is not null
    and j.created_at < (select created_at from agent_jobs where id = $3)
  order by j.created_at desc limit $4) as newest
order by created_at
