"""Every task by name, and those that are kept aside."""

import hashlib

from benchmarks.quality.series.tasks import series, transactions
from benchmarks.quality.series.tasks.task import SeriesTask

TASKS: dict[str, SeriesTask] = {task.name: task for task in (*series.TASKS, *transactions.TASKS)}


def is_aside(name: str) -> bool:
    """Whether a task is among the third that is kept aside until the end, by the hash of its name."""
    return int(hashlib.sha256(f"series/{name}".encode()).hexdigest(), 16) % 3 == 0
