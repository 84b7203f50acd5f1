"""Which queues have a worker that was seen lately, and what it means when one has none."""

from collections.abc import Mapping

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


def lack_of_workers(seen: Mapping[str, int]) -> str | None:
    """Which queues nobody serves, and what to do."""
    without = [queue for queue, many in seen.items() if not many]
    if not without:
        return None
    return (
        f"No worker on {' and '.join(without)} was seen for {SEEN_S} s: sessions wait. "
        f"Start: labcrew worker --queues {','.join(without)}"
    )


def lack_of_versions(stranded: Mapping[str, int]) -> str | None:
    """Which sessions no worker can drive; `stranded`: how many, by graph and version."""
    if not stranded:
        return None
    told = ", ".join(f"{many} of {version}" for version, many in stranded.items())
    return (
        f"Sessions wait for a worker of the version that began them: {told}. "
        "Start one of that version; else they end after 10 minutes, and must be started again."
    )
