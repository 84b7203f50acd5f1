"""Every task by name."""

from benchmarks.quality.strangers.tasks import later_time, new_entities, other_packages, random_rows
from benchmarks.quality.tables.table import Table

TASKS: dict[str, Table] = {
    task.name: task for part in (random_rows, new_entities, later_time, other_packages) for task in part.TASKS
}
