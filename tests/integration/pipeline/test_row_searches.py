"""Whole sessions that look for structure among the rows: unusual ones, and groups."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.sessions.in_memory import MemoryDrive

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROWS = 160


@pytest.fixture
def parcels(tmp_path: Path) -> Path:
    """Parcels of two kinds by weight and distance, of which the one in row 12 cost ten times too much."""
    random = np.random.default_rng(2)
    kind = random.choice(["letter", "crate"], ROWS)
    kg = np.where(kind == "letter", random.uniform(0.1, 1, ROWS), random.uniform(20, 30, ROWS))
    km = np.where(kind == "letter", random.uniform(10, 100, ROWS), random.uniform(500, 700, ROWS))
    cost = (2 + 0.5 * kg + 0.02 * km) * np.exp(random.normal(0, 0.05, ROWS))
    cost[11] *= 10
    table = pd.DataFrame(
        {"parcel": [f"P-{n:03}" for n in range(ROWS)], "kind": kind, "kg": kg, "km": km, "cost": cost}
    )
    table.round(3).to_csv(tmp_path / "parcels.csv", index=False)
    return tmp_path / "parcels.csv"


async def result_of(drive: MemoryDrive) -> dict[str, Any]:
    result: dict[str, Any] = drive.spec.result(await drive.run())
    assert result["report"]["checked_claims"] > 0
    return result


async def test_unusual_rows_are_found_told_and_kept_as_a_file(lab, parcels):
    await lab.upload(parcels)
    drive = lab.drive("Which parcels are too expensive for what they are?")
    result = await result_of(drive)
    names = [column["name"] for column in result["answer"]["columns"]]
    first = dict(zip(names, result["answer"]["rows"][0], strict=True))
    assert (first["row"], first["parcel"]) == (12, "P-011")
    assert result["headline"].startswith("1 of 160 rows does not fit the others")
    assert "unusual_rows.csv" in {draft.name for draft in drive.journal.artifacts}


async def test_groups_are_formed_and_each_row_has_its_own(lab, parcels):
    await lab.upload(parcels)
    drive = lab.drive("Segment our parcels")
    result = await result_of(drive)
    assert result["headline"].startswith("The rows form 2 groups: A (")
    assert [row[0] for row in result["answer"]["rows"]] == ["A", "B"]
    assert "row_groups.csv" in {draft.name for draft in drive.journal.artifacts}


async def test_a_table_that_cannot_be_searched_says_why(lab, tmp_path):
    (tmp_path / "names.csv").write_text("name,town\nAda,Ulm\nBob,Kiel\n")
    await lab.upload(tmp_path / "names.csv")
    result = await result_of(lab.drive("find outliers"))
    assert "shows among 30 rows at least; the table has 2" in result["headline"]
