"""Rounds of fits in whole sessions: an ensemble beside its members, the same choices again, fits that die."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from app.sessions.in_memory import MemoryJournal
from app.sessions.step_scope import Fit, FitOutcome

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

DATA = Path(str(files("bokeh_sampledata"))) / "_data"
GOAL = "How many miles per gallon will a car do? Do not use the name."


def board(result: dict[str, Any]) -> dict[str, float]:
    return {row["name"]: row["score"] for row in result["leaderboard"]}


def compared_rows(journal: MemoryJournal) -> int:
    split: Any = next(r.value for c, r in journal.recorded if c.name == "lock_holdout")
    return int(split["train_rows"])


def asked(journal: MemoryJournal, *tools: str) -> list[Any]:
    return [(call.name, call.request) for call, _ in journal.recorded if call.name in tools]


async def test_an_ensemble_stands_beside_its_members_and_a_first_model_comes_early(lab):
    await lab.upload(DATA / "auto-mpg.csv")
    drive = lab.drive(GOAL, {"deterministic": True, "time_budget_s": 15})
    result = drive.spec.result(await drive.run())
    assert {"Ensemble", "baseline", "LightGBM"} <= set(board(result))
    compared = next(r.value for c, r in reversed(drive.journal.recorded) if c.name == "compare_models")
    kinds = {row["name"]: row["kind"] for row in compared["leaderboard"]}
    assert kinds["Ensemble"] == "ensemble"
    weights = {row["name"]: row["weight"] for row in compared["leaderboard"] if row["kind"] == "member"}
    assert sum(weights.values()) == pytest.approx(1.0, abs=0.01)
    assert asked(drive.journal, "add_folds")
    said = [text for role, text in drive.journal.messages if role == "model_evaluator"]
    assert said[0].startswith("The first model is ready after")
    assert result["holdout"]["beats_baseline"] is True
    again = next(r for c, r in drive.journal.recorded if c.name == "refit_model")
    assert again.value["rows"] > compared_rows(drive.journal)
    assert [draft.name for draft in again.artifacts] == [again.value["model"]]
    assert again.value["model"].endswith("on all rows")


async def test_a_deterministic_session_comes_to_the_same_twice(lab):
    await lab.upload(DATA / "penguins.csv")
    boards = []
    for _ in range(2):
        wish = {"deterministic": True, "time_budget_s": 30, "model": "interpretable"}
        drive = lab.drive("Which species is a penguin?", wish)
        boards.append(board(drive.spec.result(await drive.run())))
    assert boards[0] == boards[1]
    assert set(boards[0]) == {"baseline", "LogisticRegression", *(n for n in boards[0] if "-t" in n)}


async def test_choices_by_the_clock_are_made_again_on_a_replay(lab):
    """Driven again over its own journal, as after a crash, with a clock that says something else."""
    await lab.upload(DATA / "penguins.csv")
    by_clock = {"time_budget_s": 5, "deterministic": False}
    drive = lab.drive("Which species is a penguin?", by_clock)
    first = drive.spec.result(await drive.run())
    journal = drive.journal
    before = len(journal.recorded)
    journal.steps = {seq: step for seq, step in journal.steps.items() if seq <= 5}
    again = lab.drive("Which species is a penguin?", by_clock, journal)
    again = replace(again, started=again.started - 100)
    assert again.spec.result(await again.run())["leaderboard"] == first["leaderboard"]
    assert len(journal.recorded) == before


async def test_a_fit_that_dies_is_left_out_and_the_session_ends_without_it(lab):
    await lab.upload(DATA / "auto-mpg.csv")
    fit = lab.fit

    async def dying(asked: Fit) -> FitOutcome:
        if asked.name == "XGBoost":
            return FitOutcome(asked.name, "left_out", reason="It did not come before the round's deadline.")
        return await fit(asked)

    lab.fit = dying
    drive = lab.drive(GOAL, {"time_budget_s": 8})
    state = await drive.run()
    result = drive.spec.result(state)
    assert "XGBoost" not in board(result)
    assert {"name": "XGBoost", "reason": "It did not come before the round's deadline."} in state["left_out"]
    assert result["holdout"]["beats_baseline"] is True
