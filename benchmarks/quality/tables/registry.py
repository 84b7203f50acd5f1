"""Every table by name."""

from benchmarks.quality.tables import groups, independent_rows, target_leakage, text, time_ordered
from benchmarks.quality.tables.table import Table

TABLES: dict[str, Table] = {
    table.name: table
    for module in (independent_rows, text, groups, time_ordered, target_leakage)
    for table in module.TABLES
}
