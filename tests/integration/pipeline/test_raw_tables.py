"""A session over several raw tables: text is read, tables are joined, and raw rows are predicted."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

ROWS = 600


def flats(folder: Path) -> list[Path]:
    """Rents as text that follow from size and, in another table, from the district; weather has no part."""
    rng = np.random.default_rng(0)
    size, district = rng.uniform(20, 150, ROWS), rng.integers(1, 13, ROWS)
    rent = 9 * size + 5 * district**2 + rng.normal(scale=20, size=ROWS)
    table = pd.DataFrame(
        {
            "flat_id": [f"F-{number:05d}" for number in rng.permutation(ROWS)],
            "size": [f"{value:,.1f} sqm".replace(".", ",") for value in size],
            "district_id": district,
            "balcony": rng.choice(["ja", "nein", "?"], ROWS),
            "country": "DE",
            "rent": [f"{value:,.2f} €".translate(str.maketrans(",.", ".,")) for value in rent],
        }
    )
    districts = pd.DataFrame({"id": np.arange(1, 13), "level": np.arange(1, 13) ** 2 * 5.0})
    weather = pd.DataFrame({"station": list("abcdefghijklmnop"), "rain": rng.random(16)})
    paths = []
    for name, frame in (("flats", table), ("districts", districts), ("weather", weather)):
        paths.append(folder / f"{name}.csv")
        frame.to_csv(paths[-1], index=False, sep=";")
    return paths


async def test_numbers_as_text_in_several_tables_become_a_model_of_numbers(lab, tmp_path):
    for path in flats(tmp_path):
        await lab.upload(path)
    columns = {column["name"]: column for column in lab.shelf.datasets[0].profile["columns"]}
    assert columns["rent"]["reading"]["as"] == "number"
    assert columns["flat_id"]["redundant"]["kind"] == "identifier"

    drive = lab.drive("Predict the rent", {"time_budget_s": 8, "clarify": "never"})
    state = await drive.run()
    result: dict[str, Any] = drive.spec.result(state)
    assert (result["problem"]["target"], result["problem"]["kind"]) == ("rent", "regression")
    assert "`districts` is joined to `flats` on district_id = id" in state["retrieved"]["note"]
    assert "`weather` is left out: it shares no column with `flats`" in state["retrieved"]["note"]
    assert {one["column"] for one in state["split"]["reading"]} == {"size", "balcony", "rent"}
    assert result["holdout"]["beats_baseline"] is True
    cleaned: Any = next(call for call, _ in drive.journal.recorded if call.name == "clean_data").request
    assert {"op": "drop", "columns": ["country"]} in cleaned["operations"]
    sides = {tuple(one["columns"]): one["chosen"] for one in result["assumptions"]}
    assert sides["flat_id",] == "otherwise"
