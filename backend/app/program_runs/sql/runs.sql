-- name: list_runs
select id, code, status, language, thread_id, created_at, started_at, ended_at from (
-- RUNS
) as runs
where created_at <= coalesce($7, 'infinity'::timestamptz)
  and ($7 is null or created_at < $7 or id > $8::uuid)
order by created_at desc, id
limit $9 offset $10

-- name: count_runs
select count(*) as total from (select from (
-- RUNS
) as runs limit $7) as few

-- name: runs
-- $5: codes of refusals, before which nothing ran
select * from (
  select s.id, s.goal as code, s.created_at, s.started_at, s.ended_at, s.preferences ->> 'language' as language,
    (s.preferences ->> 'thread_id')::uuid as thread_id,
    case s.status
      when 'completed' then case coalesce(s.result ->> 'end', 'returned')
        when 'returned' then 'succeeded'
        when 'timed_out' then 'timed_out'
        else case when s.result ->> 'end' = any($5::text[]) then 'rejected' else 'failed' end end
      when 'queued' then 'queued'
      when 'failed' then 'failed'
      when 'cancelled' then 'cancelled'
      else 'running' end as status
  from sessions s
  -- Whole runs of workflows, of this class too, have no language and a list of their own.
  where s.owner_id = $1 and s.class = 'run' and s.graph <> 'workflow'
    and ($3::uuid is null or $3 = any(s.dataset_ids))
    and ($4::text is null or s.preferences ->> 'language' = $4)
    and ($6::text is null or s.preferences ->> 'thread_id' = $6)) as all_runs
where $2::text is null or status = $2

-- name: list_artifacts
select id, kind, name, media_type, size_bytes from artifacts
where session_id = $1 and owner_id = $2 order by name, id limit $3
