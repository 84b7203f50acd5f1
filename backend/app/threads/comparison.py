"""Comparison of two worldlines: their turns since the last common one, and their tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from app.modeling.facts.conversion import parse_facts
from app.sandbox.computation_runner import ComputationRunner
from app.sandbox.exchange.contract import Computation
from app.threads.comparison_schemas import (
    DifferingRows,
    TableDifference,
    TableSide,
    TurnSince,
    WorldlineComparison,
)
from app.threads.queries import ThreadReader
from app.threads.statements import WORLDLINES
from app.tools.conversations.interactive_limits import SERVICE_LIMITS
from app.workspaces.reader import SnapshotReader
from app.workspaces.schemas import make_columns
from app.workspaces.snapshot import Entry, TableEntry

MAX_TURNS = 200
"""Turns of each side that are listed."""
MAX_COMPARED_TABLES = 20
"""Tables whose rows are compared: each takes a cell and up to 30 s. Of others the schemas are."""


@dataclass(frozen=True)
class DifferenceFacts:
    """The value of `compare_tables.compare`."""

    only_first: Mapping[str, object]
    only_second: Mapping[str, object]


@dataclass(frozen=True)
class WorldlineComparisons:
    """Compares worldlines of one owner."""

    threads: ThreadReader
    snapshots: SnapshotReader
    computer: ComputationRunner

    async def compare(self, first: UUID, second: UUID) -> WorldlineComparison:
        """Raises NotFound, TooLarge if tables are too large to compare."""
        heads = [(await self.threads.get_worldline(worldline)).head for worldline in (first, second)]
        db = self.threads.db
        common = await db.value(WORLDLINES.find_common_turn, *heads)
        snapshots = [(await self.snapshots.read(head)).names for head in heads]
        # Sorted, so that the first MAX_COMPARED_TABLES are the same whichever side comes first.
        names = sorted({*snapshots[0], *snapshots[1]})
        pairs = [(name, snapshots[0].get(name), snapshots[1].get(name)) for name in names]
        differing = [pair for pair in pairs if not _is_equal(pair[1], pair[2])]
        return WorldlineComparison(
            first=first,
            second=second,
            common_turn=common,
            turns_first=await self._list_turns(heads[0], common),
            turns_second=await self._list_turns(heads[1], common),
            equal_tables=[name for name, *sides in pairs if _is_equal(*sides)],
            tables=[
                await self._compare_tables(*pair, with_rows=place < MAX_COMPARED_TABLES)
                for place, pair in enumerate(differing)
            ],
        )

    async def _list_turns(self, head: UUID | None, common: UUID | None) -> list[TurnSince]:
        rows = await self.threads.db.rows(WORLDLINES.list_turns_since, head, common, MAX_TURNS)
        return [TurnSince(**row) for row in rows]

    async def _compare_tables(
        self, name: str, first: Entry | None, second: Entry | None, with_rows: bool
    ) -> TableDifference:
        difference = TableDifference(name=name, first=_describe(first), second=_describe(second))
        if not (with_rows and isinstance(first, TableEntry) and isinstance(second, TableEntry)):
            return difference
        # Rows are compared on shared columns only: an added column would otherwise make every row a difference.
        others = {str(column["name"]) for column in second.columns}
        shared = [str(column["name"]) for column in first.columns if column["name"] in others]
        if not shared:
            return difference
        computed = await self.computer.run(
            Computation("tables.compare_tables.compare", {"columns": [*shared]}),
            {"first": first.digest, "second": second.digest},
            SERVICE_LIMITS,
        )
        facts = parse_facts(DifferenceFacts, computed.value)
        difference.compared_columns = shared
        difference.only_first = DifferingRows.model_validate(facts.only_first)
        difference.only_second = DifferingRows.model_validate(facts.only_second)
        return difference


def _is_equal(first: Entry | None, second: Entry | None) -> bool:
    """Test if both have the same rows, or views the same SELECT."""
    if isinstance(first, TableEntry) and isinstance(second, TableEntry):
        # Frames are stored by their content, so equal digests are equal rows; nothing has to be read.
        return first.digest == second.digest
    if first is None or second is None or isinstance(first, TableEntry) or isinstance(second, TableEntry):
        return False
    return first.sql == second.sql


def _describe(entry: Entry | None) -> TableSide | None:
    if entry is None:
        return None
    sql = None if isinstance(entry, TableEntry) else entry.sql
    return TableSide(kind=entry.kind, rows=entry.rows, columns=make_columns(entry.columns), sql=sql)
