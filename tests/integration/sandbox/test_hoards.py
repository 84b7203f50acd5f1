"""Attacks on what supervision bounds, in each tier and in a container: disk, ends, and sight of the host."""

import os
from pathlib import Path

import pandas as pd
import pytest

from app.sandbox.exchange.contract import Code, Computation, End, Limits, Outcome
from app.sandbox.provider.outcome import KILLED_FROM_OUTSIDE
from app.sandbox.provider.ready_zygote import ZYGOTE_DIED

from .conftest import Cells
from .hoards import COUNTS, HOARDS, SUICIDES

pytestmark = pytest.mark.asyncio(loop_scope="session")

# clock: an attack that is cut off has failed as well
TIGHT = Limits(time_s=4, memory_bytes=256 << 20, disk_bytes=32 << 20)


async def _attack(cells: Cells, source: str, limits: Limits) -> Outcome:
    """The outcome of raw Python; the cells that come after serve as before."""
    outcome = await cells.run(
        Computation("cell_fixtures.unrestricted", {"source": source}, trusted=False), limits=limits
    )
    assert (await cells.compute("echo", value=1)).value == 1
    return outcome


@pytest.mark.parametrize("name", sorted(HOARDS))
async def test_hidden_disk_usage_stays_within_the_limit(cells: Cells, name: str) -> None:
    # clock: an attack that is cut off has failed as well
    outcome = await _attack(cells, HOARDS[name], Limits(time_s=20, disk_bytes=TIGHT.disk_bytes))
    assert outcome.value != "PWNED"


@pytest.mark.skipif(os.geteuid() != 0, reason="the kernel shows open files of cells to root only")
@pytest.mark.parametrize(
    "name", ["files unlinked between two writes", "files without a name", "unlinked files"]
)
async def test_trusted_work_hides_no_open_files_from_its_disk_limit(cells: Cells, name: str) -> None:
    # clock: an attack that is cut off has failed as well
    limits = Limits(time_s=20, disk_bytes=TIGHT.disk_bytes)
    outcome = await cells.run(
        Computation("cell_fixtures.unrestricted", {"source": HOARDS[name]}), limits=limits
    )
    assert outcome.value != "PWNED"
    assert outcome.end in (End.OUT_OF_DISK, End.RAISED), outcome


@pytest.mark.parametrize("name", sorted(SUICIDES))
async def test_a_cell_that_ends_itself_is_not_lost(cells: Cells, name: str) -> None:
    outcome = await _attack(cells, SUICIDES[name], TIGHT)
    assert outcome.fault not in (KILLED_FROM_OUTSIDE, ZYGOTE_DIED.fault)


@pytest.mark.parametrize("name", sorted(COUNTS))
async def test_a_cell_does_not_count_processes(cells: Cells, name: str) -> None:
    outcome = await _attack(cells, COUNTS[name], TIGHT)
    assert outcome.end in (End.RETURNED, End.RAISED)
    assert outcome.value != "PWNED"


async def test_a_table_is_kept_beside_the_input_of_its_name(cells: Cells, tmp_path: Path) -> None:
    pd.DataFrame({"v": [1, 2]}).to_parquet(tmp_path / "blob")
    source = """
import pandas as pd
train["w"] = 2
keep["train"] = train
for text in ("first", "second"):
    with open("note.txt", "w") as file:
        file.write(text)
result = [*pd.read_parquet("train.parquet").columns]
"""
    outcome = await cells.run(Code(source), {"train.parquet": tmp_path / "blob"})
    assert isinstance(outcome.value, dict)
    assert outcome.value["result"] == ["v"]
    assert outcome.value["frames"] == {
        "train": {"file": "train-kept.parquet", "rows": 2, "columns": ["v", "w"]}
    }
    assert outcome.files == ("note.txt", "train-kept.parquet")
