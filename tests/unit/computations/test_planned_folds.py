"""The plan of folds holds as many as the training rows give: fits are told their folds by number."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import train
from app.computations.preparation import split


def survey(shares: list[float], rows: int = 600) -> pd.DataFrame:
    """Answers of a survey that is held in some years only, so that many rows share a moment."""
    rng = np.random.default_rng(4)
    years = np.repeat(np.arange(2000, 2000 + 2 * len(shares), 2), (rows * np.array(shares)).astype(int))
    age = rng.integers(18, 90, len(years))
    return pd.DataFrame({"year": years, "age": age, "kids": rng.poisson(age / 30)})


def lock(folder: Path, table: pd.DataFrame, **problem: Any) -> dict[str, Any]:
    path = folder / "table.parquet"
    table.to_parquet(path)
    output = folder / "locked"
    output.mkdir()
    facts: Any = split.split_table(CellWorkspace({"table": path}, output), {"target": "kids", **problem})
    return dict(facts)


@pytest.mark.parametrize("shares", [[0.2] * 5, [0.5, 0.1, 0.1, 0.1, 0.1, 0.1], [0.1] * 10, [0.4, 0.3, 0.3]])
def test_the_last_planned_fold_of_a_survey_can_be_fitted(tmp_path: Path, shares: list[float]) -> None:
    facts = lock(tmp_path, survey(shares), time_column="year", kind="regression")
    assert facts["kind"] == "time"
    last = facts["folds"]["count"] - 1
    output = tmp_path / "fit"
    output.mkdir()
    workspace = CellWorkspace({"frame": tmp_path / "locked" / "train.parquet"}, output)
    fitted: Any = train.fit_candidate(workspace, facts["problem"], "baseline", facts["folds"], run=[last])
    assert fitted["run"] == [last]


def test_few_groups_make_few_folds(tmp_path: Path) -> None:
    table = survey([0.2] * 5)
    table["school"] = np.arange(len(table)) % 4
    facts = lock(tmp_path, table, group_column="school", kind="regression")
    assert (facts["kind"], facts["folds"]["count"]) == ("grouped", 3)


def test_too_few_moments_are_mixed_in_folds_and_said(tmp_path: Path) -> None:
    facts = lock(tmp_path, survey([0.4, 0.3, 0.3]), time_column="year", kind="regression")
    assert (facts["kind"], facts["folds"]["kind"]) == ("time", "random")
    assert any("folds mix moments" in note for note in facts["notes"])


def test_a_metric_that_changes_do_not_define_is_replaced(tmp_path: Path) -> None:
    days = pd.date_range("2024-01-01", periods=120, freq="D")
    table = pd.DataFrame({"day": days, "kids": 50.0 + np.random.default_rng(0).normal(size=120)})
    facts = lock(tmp_path, table, horizon=1, outlook="change", metric="rmsle")
    # The values are above 0, but half of their changes are falls.
    assert facts["problem"]["metric"] == "rmse"
    assert any("RMSLE is not defined for the values of 'kids'" in note for note in facts["notes"])
