"""Which workers are alive and what they can run: rows, so that it is known without Redis.

While two versions of the service are on one database, a session goes on with a worker that runs its version of
the graph. Where there is none for long, it ends and says so.
"""

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from app.db.pool import Database
from app.jobs import QUEUES, JobName
from app.sessions.events.serialization import dumps

log = logging.getLogger(__name__)

EVERY_S = 5.0
GONE_S = 30.0
DRIVES = QUEUES[JobName.ADVANCE]
"""The queue of those who drive sessions."""

Versions = Mapping[str, Sequence[int]]
"""By graph, its version and then earlier ones whose sessions it goes on with."""

# Of a session `s`: whether one who runs the versions `graphs` can drive it. A new session takes the first.
RUNS = (
    "coalesce(({graphs} -> s.graph) @> "
    "to_jsonb(coalesce(s.graph_version, ({graphs} -> s.graph ->> 0)::int)), false)"
)

_SOMEBODY_RUNS = f"""exists (
  select from workers w where w.seen_at > now() - interval '{GONE_S:g} seconds' and '{DRIVES}' = any(w.queues)
    and {RUNS.format(graphs="w.graphs")})"""
_HAS_TO_DO = """s.ended_at is null and not s.cancel
  and (s.lease_until < now() or (s.lease_until is null and s.wake > s.seen))"""

_SAY = """
insert into workers (id, graphs, queues) values ($1, $2::jsonb, $3)
on conflict (id) do update set seen_at = now()
returning id
"""
_LEAVE = "delete from workers where id = $1 returning id"

_FOR_OTHERS = f"""
select from sessions s where s.id = $1 and {_HAS_TO_DO}
  and not {RUNS.format(graphs="$2::jsonb")} and {_SOMEBODY_RUNS}
"""

_STRAND = f"""
update sessions s set stranded_at = case when stranded_at is null then now() end
where s.id in (
  select s.id from sessions s
  where {_HAS_TO_DO} and (s.stranded_at is null) <> {_SOMEBODY_RUNS}
    and s.queued_at < now() - $1 * interval '1 second'
  limit 200 for update skip locked)
returning s.id
"""  # noqa: S608 - constants of ours

_STRANDED = """
select graph, coalesce(graph_version::text, 'any') as version, count(*) as n from sessions
where ended_at is null and stranded_at is not null group by 1, 2 order by 1, 2
"""


@dataclass(frozen=True)
class Presence:
    """One worker process, and what it says of itself."""

    db: Database
    graphs: Versions
    queues: Sequence[str]
    id: UUID = field(default_factory=uuid4)

    async def say_for_ever(self) -> None:
        """That it is alive, until cancelled."""
        said = dumps({name: list(versions) for name, versions in self.graphs.items()})
        try:
            while True:
                try:
                    await self.db.row(_SAY, self.id, said, list(self.queues))
                except Exception:
                    log.warning("this worker could not say that it is alive", exc_info=True)
                await asyncio.sleep(EVERY_S)
        finally:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(1):
                    await self.db.row(_LEAVE, self.id)


async def is_for_others(db: Database, session_id: UUID, graphs: str) -> bool:
    """Has it something to do that a live worker can, and who runs `graphs` (JSON of Versions) cannot?"""
    return await db.row(_FOR_OTHERS, session_id, graphs) is not None


async def note_stranded(db: Database, grace_s: float) -> None:
    """Mark sessions with something to do that no live worker can drive, and take the mark from others."""
    await db.rows(_STRAND, grace_s)


async def stranded(db: Database) -> dict[str, int]:
    """How many sessions wait for a worker, by graph and version: `{"pipeline 7": 3}`."""
    return {f"{row['graph']} {row['version']}": row["n"] for row in await db.rows(_STRANDED)}
