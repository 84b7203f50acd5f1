"""Every table by name."""

from benchmarks.quality.tables import groups, plain, text, time, traps
from benchmarks.quality.tables.table import Table

TABLES: dict[str, Table] = {
    table.name: table for part in (plain, text, groups, time, traps) for table in part.TABLES
}
