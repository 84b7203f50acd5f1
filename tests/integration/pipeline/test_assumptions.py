"""Conditions of a score in whole sessions: measured, asked about, switched by the answer, and reported."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.fast_families import FAST_FAMILIES
from tests.unit.modeling.analysis.assumptions.planted import auc_of_risk, customers, is_inside, tracks

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

GOAL = "Predict the wind."
COUNTED = {"time_budget_s": 10, "deterministic": True, **FAST_FAMILIES}
"""Preferences of a session in which counts of rows bound what is measured: a slow machine measures less."""


def write_tracks(folder: Path) -> Path:
    frame: pd.DataFrame = tracks(count=100)
    path = folder / "tracks.csv"
    frame.to_csv(path, index=False)
    return path


def entities_of(result: dict[str, Any]) -> dict[str, Any]:
    return next(entry for entry in result["assumptions"] if entry["kind"] == "entities")


async def test_entities_are_kept_apart_and_the_report_says_so(lab, tmp_path):
    await lab.upload(write_tracks(tmp_path))
    drive = lab.drive(GOAL, {**COUNTED, "clarify": "never", "target": "wind"})
    result = drive.spec.result(await drive.run())
    entities = entities_of(result)
    assert (entities["columns"], entities["chosen"], entities["matters"]) == (
        ["name", "year"],
        "otherwise",
        True,
    )
    assert entities["otherwise_score"] > 2 * entities["holds_score"]
    assert result["split"]["kind"] == "grouped"
    assert "for new ones" in entities["text"]
    assert result["report"]["checked_claims"] > 0
    (asked,) = drive.journal.questions
    assert entities["fork"] == {
        "at": {"question": f"3.{asked.key}"},
        "change": {"answer": entities["options"]["holds"]},
    }


async def test_the_user_is_asked_with_both_figures_and_the_answer_switches_the_split(lab, tmp_path):
    await lab.upload(write_tracks(tmp_path))
    drive = lab.drive(GOAL, {**COUNTED, "target": "wind"})
    await drive.run()
    question = drive.journal.questions[-1]
    assert "`name` and `year`" in question.text
    drive.journal.answers = {f"3.{question.key}": question.options[0]}
    again = lab.drive(GOAL, {**COUNTED, "target": "wind"}, drive.journal)
    result = again.spec.result(await again.run())
    assert entities_of(result)["chosen"] == "holds"
    assert result["split"]["kind"] == "random"


async def test_a_copy_is_left_out_and_a_code_is_kept_and_the_report_has_both_figures(lab, tmp_path):
    frame = customers(900)
    rng = np.random.default_rng(1)
    frame["status"] = np.where(frame["left"] == 1, "gone", "here")
    frame["severity"] = np.where(frame["left"] == 1, 4, rng.integers(1, 4, len(frame)))
    frame.loc[rng.random(len(frame)) < 0.02, "severity"] = 2
    frame.to_csv(tmp_path / "customers.csv", index=False)
    await lab.upload(tmp_path / "customers.csv")
    wish = {**COUNTED, "clarify": "never", "target": "left", "metric": "roc_auc"}
    drive = lab.drive("Predict who has left.", wish)
    result = drive.spec.result(await drive.run())
    columns = {entry["column"]: entry for entry in result["assumptions"] if entry["kind"] == "column"}
    assert {name: entry["chosen"] for name, entry in columns.items()} == {
        "status": "otherwise",
        "severity": "holds",
    }
    kept, left_out = columns["severity"], columns["status"]
    assert left_out["fork"] is None or "question" in left_out["fork"]["at"]
    assert kept["fork"]["change"] in (
        {"answer": kept["options"]["otherwise"]},
        {"settings": {"leave_out": kept["columns"]}},
    )
    assert is_inside(columns["severity"], "otherwise", auc_of_risk(frame), slack=0.03)
    assert is_inside(columns["severity"], "holds", 0.99)
    assert "severity" in columns["severity"]["text"]
    assert {entry["column"] for entry in result["importances"]} == {"severity", "risk", "tenure"}
