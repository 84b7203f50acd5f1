"""A plan that its user changes is the plan that the crew carries out."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.fast_families import FAST_FAMILIES

from app.sessions.answer_validation import check_answer
from app.sessions.in_memory import MemoryDrive, MemoryJournal

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

DATA = Path(str(files("bokeh_sampledata"))) / "_data"
GOAL = "Which species is a penguin?"
QUICK = {"time_budget_s": 10, "deterministic": True, "seed": 3, "review_plan": True, **FAST_FAMILIES}


async def reviewed(lab: Any, *answers: Any) -> MemoryDrive:
    """A session whose plan got these answers, driven to its end."""
    await lab.upload(DATA / "penguins.csv")
    journal = MemoryJournal(answers={f"review:{place}": answer for place, answer in enumerate(answers)})
    drive: MemoryDrive = lab.drive(GOAL, QUICK, journal)
    state = await drive.run()
    assert "__interrupt__" not in state, journal.questions[-1].text
    assert len(journal.questions) == len(answers)
    for question, answer in zip(journal.questions, answers, strict=True):
        check_answer(question.answer_schema, answer)
    return drive


def nodes(drive: MemoryDrive) -> list[str]:
    return [node for node, _ in drive.journal.steps.values()]


def results(drive: MemoryDrive, tool: str) -> list[Any]:
    return [done.value for call, done in drive.journal.recorded if call.name == tool and not done.failed]


async def test_an_edited_plan_is_followed_to_the_letter(lab):
    stages = ["data_retrieval", "split", "model_training", "model_evaluation", "final_evaluation", "reporting"]
    changes = {
        "target": "sex",
        "metric": "log_loss",
        "exclude": ["island"],
        "families": ["LogisticRegression", "LightGBM"],
        "stages": stages,
    }
    drive = await reviewed(lab, {"decision": "edit", "plan": changes})
    assert nodes(drive) == ["planning", *stages]
    [final] = results(drive, "final_evaluation")
    assert final["metric"] == "log_loss"
    fits = [fit for answer in results(drive, "train_classification_model") for fit in answer["fits"]]
    assert {fit["estimator"] for fit in fits} == {"baseline", "LogisticRegression", "LightGBM"}
    [locked] = results(drive, "lock_holdout")
    assert (locked["problem"]["target"], locked["problem"]["exclude"]) == ("sex", ["island"])
    assert results(drive, "perform_eda") == []


async def test_a_plan_without_a_model_is_a_look_at_the_data_with_a_report(lab):
    stages = ["data_retrieval", "split", "data_analysis", "reporting"]
    drive = await reviewed(lab, {"decision": "edit", "plan": {"stages": stages}})
    assert nodes(drive) == ["planning", *stages]
    [report] = results(drive, "generate_summary")
    assert report["checked"] > 0


async def test_what_cannot_be_done_is_said_and_asked_again_and_words_make_a_new_plan(lab):
    drive = await reviewed(
        lab,
        {"decision": "edit", "plan": {"metric": "rmse"}},
        {"decision": "reject", "reason": "Predict the sex instead."},
        {"decision": "edit", "plan": {"stages": ["data_retrieval", "split", "reporting"]}},
    )
    first, second, third = drive.journal.questions
    assert "rmse does not judge classification" in second.text
    assert second.about["plan"] == first.about["plan"]
    assert third.about["plan"]["target"] == "sex"
    assert "data_analysis" not in nodes(drive)
