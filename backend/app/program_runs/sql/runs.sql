-- name: list_runs
select id, code, status, language, created_at, started_at, ended_at from (
-- RUNS
) as runs
where created_at <= coalesce($6, 'infinity'::timestamptz)
  and ($6 is null or created_at < $6 or id > $7::uuid)
order by created_at desc, id
limit $8 offset $9

-- name: count_runs
select count(*) as total from (select from (
-- RUNS
) as runs limit $6) as few

-- name: runs
-- $5: codes of refusals, before which nothing ran
select * from (
  select s.id, s.goal as code, s.created_at, s.started_at, s.ended_at, s.preferences ->> 'language' as language,
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
  where s.owner_id = $1 and s.class = 'run'
    and ($3::uuid is null or $3 = any(s.dataset_ids))
    and ($4::text is null or s.preferences ->> 'language' = $4)) as all_runs
where $2::text is null or status = $2
