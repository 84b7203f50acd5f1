"""Repairs what a crash or a lost message left: in every worker process, safe to run many times at once."""

import asyncio
import logging
import random

from app import jobs
from app.db.pool import Database
from app.jobs import Send
from app.observability.metrics.sessions import SWEEPER_FINDS
from app.sessions.admission import AdmissionQueue
from app.sessions.config import SessionsConfig
from app.sessions.workers import note_stranded

log = logging.getLogger(__name__)

# Nobody will wake these: past a time limit or a round's deadline, or cancelled with its last fit's worker dead.
_NUDGE = """
update sessions s set wake = wake + 1, queued_at = now()
where id in (
  select id from sessions s
  where ended_at is null and lease_until is null and wake = seen and (
    (deadline_at < now() and waiting_since is null)
    or exists (select from rounds r where r.session_id = s.id and r.fits_left > 0 and r.deadline_at < now())
    or (cancel and not exists (
      select from fits f where f.session_id = s.id and f.status = 'running' and f.lease_until > now())))
  limit 200 for update skip locked)
returning id
"""

_SESSIONS = """
update sessions set queued_at = now()
where id in (
  select id from sessions
  where ended_at is null and queued_at < now() - $1 * interval '1 second'
    and (lease_until < now() or (lease_until is null and wake > seen))
    and (admitted_at is not null or cancel)
  order by queued_at limit 200 for update skip locked)
returning id
"""

_FITS = """
update fits set queued_at = now()
where (session_id, round_key, candidate) in (
  select f.session_id, f.round_key, f.candidate
  from fits f join sessions s on s.id = f.session_id
  where s.ended_at is null and not s.cancel and f.queued_at < now() - $1 * interval '1 second'
    and (f.status = 'queued' or (f.status = 'running' and f.lease_until < now()))
  order by f.queued_at limit 200 for update of f skip locked)
returning session_id, round_key, candidate
"""


async def sweep(db: Database, send: Send, grace_s: float) -> int:
    """One pass; how many wake-ups it sent."""
    await note_stranded(db, grace_s)
    nudged = await db.rows(_NUDGE)
    sessions = await db.rows(_SESSIONS, grace_s)
    fits = await db.rows(_FITS, grace_s)
    for row in (*nudged, *sessions):
        send(jobs.advance(row["id"]))
    for row in fits:
        send(jobs.fit(row["session_id"], row["round_key"], row["candidate"]))
    found = {"forgotten": len(nudged), "session": len(sessions), "fit": len(fits)}
    for what, many in found.items():
        SWEEPER_FINDS.labels(what).inc(many)
    return sum(found.values())


async def sweep_for_ever(db: Database, send: Send, config: SessionsConfig) -> None:
    """Until cancelled; a pass that fails is followed by the next."""
    while True:
        await asyncio.sleep(config.sweep_s * random.uniform(0.5, 1))  # noqa: S311 - spreads the processes
        try:
            await AdmissionQueue(db, send, config).admit()
            await sweep(db, send, config.grace_s)
        except Exception:
            log.warning("a sweep failed", exc_info=True)
