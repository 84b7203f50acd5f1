"""Rows without a value of the target are predicted by the delivered model."""

import numpy as np
import pandas as pd
import pytest
from tests.fast_families import FAST_FAMILIES

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]


async def test_missing_values_of_the_target_are_filled_in(lab, tmp_path):
    rng = np.random.default_rng(2)
    size = rng.uniform(30, 200, 400)
    price = 2_000 * size + rng.normal(0, 10_000, 400)
    table = pd.DataFrame({"size": size.round(1), "rooms": rng.integers(1, 7, 400), "price": price.round(0)})
    table.loc[rng.choice(400, 40, replace=False), "price"] = np.nan
    table.to_csv(tmp_path / "houses.csv", index=False)
    lab.shelf.datasets.clear()
    await lab.upload(tmp_path / "houses.csv")
    preferences = {"time_budget_s": 8, "deterministic": True, "clarify": "never", **FAST_FAMILIES}
    drive = lab.drive("Fill in the missing prices", preferences)
    ended = await drive.run()

    result = drive.spec.result(ended)
    assert result["problem"]["target"] == "price"
    assert result["unlabelled"] == {"rows": 40, "unlabelled": 40, "file": "predictions.csv"}
    kept = [
        draft for draft in drive.journal.artifacts if (draft.kind, draft.name) == ("table", "predictions.csv")
    ]
    assert len(kept) == 1
