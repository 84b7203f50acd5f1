"""What the libraries need is not walled off, in any tier."""

from pathlib import Path

import pytest

from app.sandbox.exchange.contract import Code, Computation, End

from .conftest import Cells

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_duckdb_reads_a_table_and_writes_parquet(cells: Cells, tmp_path: Path) -> None:
    (tmp_path / "blob").write_text("city,visits\nOslo,3\nBergen,5\n")
    outcome = await cells.run(
        Computation("uploads.ingest.ingest", {"filename": "visits.csv"}), {"upload": tmp_path / "blob"}
    )
    assert outcome.end is End.RETURNED, outcome.stderr
    assert outcome.files == ("table.parquet",)


async def test_cells_share_no_random_numbers(cells: Cells) -> None:
    question = Computation("queries.query.run_sql", {"sql": "SELECT random() AS drawn"})
    outcomes = [await cells.run(question) for _ in range(3)]
    assert {outcome.end for outcome in outcomes} == {End.RETURNED}, outcomes[0].stderr
    assert len({str(outcome.value) for outcome in outcomes}) == 3


async def test_control_groups_are_not_listed(cells: Cells) -> None:
    outcome = await cells.run(Code("import os\nresult = os.listdir('/sys/fs/cgroup')"))
    assert outcome.end is not End.RETURNED
