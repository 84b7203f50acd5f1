"""Who drives a session now: claim, renew, hand back, end.

`wake` counts what a session was given to do; the claim takes note of it in `seen`. Each statement here is one
guarded UPDATE on the database's clock: a driver whose fence is not the newest changes nothing.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID

from app.db.pool import Database, Record
from app.sessions.config import SessionsConfig
from app.sessions.events.events import SessionCancelled, SessionFailed, SessionFinished
from app.sessions.events.serialization import EventMessage, dumps, event_body, sighting
from app.sessions.lifecycle import SessionStatus
from app.sessions.step_scope import SessionFacts
from app.sessions.workers import RUNS, Versions, is_for_others


class LeaseLost(Exception):
    """Somebody else drives this session now, or it has ended: stop, and change nothing."""


class DriveSignal(StrEnum):
    """What a lease holder is told: to go on, or why not."""

    GO_ON = "go_on"
    CANCEL = "cancel"
    OVERDUE = "overdue"
    LOST = "lost"
    """The lease is not ours any more."""
    SHUTDOWN = "shutdown"
    """The worker stops, and the step took too long to wait for."""


def standing(cancel: bool, overdue: bool) -> DriveSignal:
    return DriveSignal.CANCEL if cancel else DriveSignal.OVERDUE if overdue else DriveSignal.GO_ON


@dataclass(frozen=True)
class Lease:
    """One hold on a session, from a claim to a release. `started`: the event of its first claim."""

    facts: SessionFacts
    graph: str
    graph_version: int | None
    """None: the driver has no graph of that name."""
    fence: int
    last_seq: int
    crashes: int
    standing: DriveSignal
    started: EventMessage | None
    worked_s: float
    """Seconds since the first claim, without the time that the session waited for its user."""
    queued_s: float
    """Seconds from the wish to the first claim."""
    taken_over: bool
    """It was somebody's whose lease ran out."""


Ending = SessionFinished | SessionFailed | SessionCancelled

STATUS: dict[type[Ending], SessionStatus] = {
    SessionFinished: SessionStatus.COMPLETED,
    SessionFailed: SessionStatus.FAILED,
    SessionCancelled: SessionStatus.CANCELLED,
}

_CLAIM = f"""
with s as (
  update sessions s set
    fence = fence + 1,
    seen = wake,
    status = case when cancel then 'cancelling' else 'running' end,
    crashes = crashes + (lease_until is not null)::int,
    event_seq = event_seq + (fence = 0)::int,
    graph_version = coalesce(graph_version, ($4::jsonb -> graph ->> 0)::int),
    stranded_at = null,
    started_at = coalesce(started_at, now()),
    deadline_at = coalesce(
      deadline_at + coalesce(now() - waiting_since, interval '0'),
      now() + interval '1 second' *
        coalesce((preferences #>> '{{budget,seconds}}')::float8 + $5::float8, $3::float8)),
    waited_s = waited_s + coalesce(extract(epoch from now() - waiting_since), 0),
    waiting_since = null,
    lease_until = now() + $2 * interval '1 second'
  where id = $1 and ended_at is null
    and (lease_until < now() or (lease_until is null and wake > seen))
    and (admitted_at is not null or cancel)
    and ({RUNS.format(graphs="$4::jsonb")} or cancel or deadline_at < now()
      or stranded_at < now() - $6 * interval '1 second')
  returning *
), e as (
  insert into events (session_id, n, kind, body, at)
  select id, event_seq, 'session_started',
    json_build_object('kind', 'session_started', 'goal', goal), started_at
  from s where fence = 1
  returning body, at
)
select s.id, s.owner_id, s.goal, s.preferences, s.dataset_ids, s.seed, s.created_at, s.graph, s.graph_version,
  s.fence, s.last_seq, s.crashes, s.event_seq, s.cancel, s.deadline_at < now() as overdue,
  (extract(epoch from now() - s.started_at) - s.waited_s)::float8 as worked_s,
  extract(epoch from s.started_at - s.created_at)::float8 as queued_s,
  (select lease_until is not null from sessions where id = $1) as taken_over,
  e.body as started, e.at as started_at
from s left join e on true
"""  # noqa: S608 - constants of ours

_RENEW = """
update sessions set lease_until = now() + $3 * interval '1 second'
where id = $1 and fence = $2 and ended_at is null
returning cancel, deadline_at < now() as overdue
"""

_HAND_BACK = """
with w as (
  select
    exists (select from questions where session_id = $1 and answered_at is null) as for_user,
    exists (select from rounds where session_id = $1 and fits_left > 0) as for_fits
)
update sessions set
  lease_until = null,
  queued_at = now(),
  wake = wake + $3::int,
  waiting_since = case when $3 = 0 and w.for_user then now() end,
  admitted_at = case when $3 = 0 and w.for_user then null else admitted_at end,
  status = case
    when cancel then 'cancelling'
    when $3 = 1 then 'queued'
    when w.for_user then 'awaiting_user'
    when w.for_fits then 'awaiting_fits'
    else 'queued' end
from w
where id = $1 and fence = $2 and ended_at is null
returning wake > seen as more
"""

_END = """
with s as (
  update sessions set
    lease_until = null, status = $3, error = $4::jsonb, result = $5::json,
    event_seq = event_seq + 1, ended_at = clock_timestamp()
  where id = $1 and fence = $2 and ended_at is null
    and not ($3 = 'cancelled' and exists (
      select from fits where session_id = $1 and status = 'running' and lease_until > now()))
  returning id, event_seq
), e as (
  insert into events (session_id, n, kind, body, at) select id, event_seq, $6, $7::json, $8 from s
), f as (
  update fits set status = 'cancelled', ended_at = now(), lease_until = null
  where session_id in (select id from s) and status in ('queued', 'running')
)
select event_seq from s
"""


class Leases:
    def __init__(self, db: Database, config: SessionsConfig, graphs: Versions) -> None:
        self._db = db
        self._config = config
        self._graphs = dumps({name: list(versions) for name, versions in graphs.items()})

    async def claim(self, session_id: UUID) -> Lease | None:
        """A lease, if the session has something to do that this process can, and nobody drives it.

        Ending it, because it was cancelled or nobody could drive it for long, anybody can.
        """
        config = self._config
        row = await self._db.row(
            _CLAIM,
            session_id,
            config.lease_s,
            config.time_limit_s,
            self._graphs,
            config.ending_s,
            config.stranded_grace_s,
        )
        return _lease(row) if row else None

    async def is_for_others(self, session_id: UUID) -> bool:
        """Did the claim fail because only other live workers run the session's version of the graph?"""
        return await is_for_others(self._db, session_id, self._graphs)

    async def renew(self, lease: Lease) -> DriveSignal:
        """Raises LeaseLost."""
        row = await self._db.row(_RENEW, lease.facts.id, lease.fence, self._config.lease_s)
        if row is None:
            raise LeaseLost
        return standing(row["cancel"], row["overdue"])

    async def hand_back(self, lease: Lease, again: bool) -> bool:
        """Give the session back, to go on later (`again`) or to wait. True: it has something to do, queue it.

        Safe to send twice: the second finds the lease gone and says no, and the sweeper sees `wake > seen`.
        """
        row = await self._db.row(_HAND_BACK, lease.facts.id, lease.fence, int(again))
        return bool(row and row["more"])

    async def end(self, lease: Lease, ending: Ending) -> EventMessage | None:
        """End the session; the event that says so, or None when it could not be ended.

        It cannot when the lease is lost, or when it is to be `cancelled` and a fit of it still runs.
        """
        at, body = datetime.now(UTC), event_body(ending)
        failed = ending if isinstance(ending, SessionFailed) else None
        row = await self._db.row(
            _END,
            lease.facts.id,
            lease.fence,
            STATUS[type(ending)],
            dumps({"code": failed.code, "detail": failed.detail}) if failed else None,
            dumps(ending.result) if isinstance(ending, SessionFinished) else None,
            ending.kind,
            body,
            at,
        )
        return sighting(row["event_seq"], at, ending.kind, body) if row else None


def facts_of(row: Record) -> SessionFacts:
    """`row`: of `sessions`."""
    return SessionFacts(
        id=row["id"],
        owner_id=row["owner_id"],
        goal=row["goal"],
        preferences=json.loads(row["preferences"]),
        dataset_ids=tuple(row["dataset_ids"]),
        seed=row["seed"],
        created_at=row["created_at"],
    )


def _lease(row: Record) -> Lease:
    first = row["started"]
    return Lease(
        facts=facts_of(row),
        graph=row["graph"],
        graph_version=row["graph_version"],
        fence=row["fence"],
        last_seq=row["last_seq"],
        crashes=row["crashes"],
        standing=standing(row["cancel"], row["overdue"]),
        started=sighting(row["event_seq"], row["started_at"], "session_started", first) if first else None,
        worked_s=row["worked_s"],
        queued_s=row["queued_s"],
        taken_over=row["taken_over"],
    )
