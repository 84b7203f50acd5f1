-- name: heartbeat
insert into workers (id, graphs, queues, fit_slots) values ($1, $2::jsonb, $3, $4)
on conflict (id) do update set seen_at = now()
returning id

-- name: leave
delete from workers where id = $1 returning id

-- name: is_for_others
select from sessions s where s.id = $1 and s.ended_at is null and not s.cancel
  and s.paused_at is null and (s.lease_until < now() or (s.lease_until is null and s.wake > s.seen))
  and not can_drive($2::jsonb, s.graph, s.graph_version) and exists (
    select from workers w
    where w.seen_at > now() - $3 * interval '1 second' and $4 = any(w.queues)
      and can_drive(w.graphs, s.graph, s.graph_version))

-- name: mark_stranded
update sessions s set stranded_at = case when stranded_at is null then now() end
where s.id in (
  select s.id from sessions s
  where s.ended_at is null and not s.cancel
  -- Both ways at once: marked where no worker is left, unmarked where one has come back.
  and s.paused_at is null and (s.lease_until < now() or (s.lease_until is null and s.wake > s.seen)) and (s.stranded_at is null) <> exists (
    select from workers w
    where w.seen_at > now() - $2 * interval '1 second' and $3 = any(w.queues)
      and can_drive(w.graphs, s.graph, s.graph_version))
    and s.queued_at < now() - $1 * interval '1 second'
  limit 200 for update skip locked)
returning s.id

-- name: count_stranded
select graph, coalesce(graph_version::text, 'any') as version, count(*) as n from sessions
where ended_at is null and stranded_at is not null group by 1, 2 order by 1, 2

-- name: live_by_queue
select unnest(queues) as queue, count(*) as workers from workers
where seen_at > now() - $1 * interval '1 second' group by 1

-- name: count_fit_slots
select coalesce(sum(fit_slots), 0)::int as slots from workers
where seen_at > now() - $1 * interval '1 second'
