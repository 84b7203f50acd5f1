"""Which queues have a worker that was seen lately."""

from collections.abc import Sequence

from app.db.pool import Database
from app.jobs import QUEUES

SEEN_S = 30
"""Workers say every few seconds that they are there."""

_SEEN = """
select unnest(queues) as queue, count(*) as workers from workers
where seen_at > now() - $1 * interval '1 second' group by 1
"""


async def workers(database: Database) -> dict[str, int]:
    """How many were seen lately, for every queue that there is."""
    found = {row["queue"]: int(row["workers"]) for row in await database.rows(_SEEN, SEEN_S)}
    return dict.fromkeys(QUEUES.values(), 0) | found


def unserved(seen: dict[str, int]) -> Sequence[str]:
    return [queue for queue, many in seen.items() if not many]
