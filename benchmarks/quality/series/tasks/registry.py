"""Every task by name, and the choice of held-out tasks."""

import hashlib

from benchmarks.quality.series.tasks import series, transactions
from benchmarks.quality.series.tasks.task import SeriesTask

TASKS: dict[str, SeriesTask] = {task.name: task for task in (*series.TASKS, *transactions.TASKS)}


def is_held_out(name: str) -> bool:
    """Return true for the third of the tasks that is held out, by the hash of the name."""
    return int(hashlib.sha256(f"series/{name}".encode()).hexdigest(), 16) % 3 == 0
