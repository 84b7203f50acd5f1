"""A session whose budget is used up ends with a report of what there is, wherever that happens."""

from importlib.resources import files
from pathlib import Path

import pytest
from tests.fast_families import FAST_FAMILIES
from tests.scripted_chat import ScriptedChat, serving

from app.llm.config import ChatConfig
from app.sessions.in_memory import MemoryJournal

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

DATA = Path(str(files("bokeh_sampledata"))) / "_data"
GOAL = "Which species is a penguin?"
QUICK = {"time_budget_s": 10, "deterministic": True, "seed": 3, **FAST_FAMILIES}


def worked(journal: MemoryJournal) -> list[str]:
    return [call.name for call, done in journal.recorded if call.kind == "tool" and not done.failed]


@pytest.mark.parametrize("most", [0, 6])
async def test_without_a_fit_there_is_a_report_and_no_model(most: int, lab) -> None:
    await lab.upload(DATA / "penguins.csv")
    drive = lab.drive(GOAL, QUICK, MemoryJournal(max_calls={"tool": most}))
    result = drive.spec.result(await drive.run())
    assert result["model"] is None
    assert result["report"]["checked_claims"] > 0
    assert "train_classification_model" not in worked(drive.journal)


async def test_with_fits_the_best_of_them_is_judged_and_reported(lab) -> None:
    await lab.upload(DATA / "penguins.csv")
    whole = lab.drive(GOAL, QUICK)
    await whole.run()
    after_training = 1 + worked(whole.journal).index("train_classification_model")
    drive = lab.drive(GOAL, QUICK, MemoryJournal(max_calls={"tool": after_training}))
    result = drive.spec.result(await drive.run())
    assert result["model"]
    assert result["holdout"]["value"] is not None
    assert result["report"]["checked_claims"] > 0
    done = worked(drive.journal)
    assert "build_ensemble" not in done[after_training:]
    assert done.count("final_evaluation") == 1


async def test_without_tokens_the_offline_policies_finish_the_work(lab) -> None:
    await lab.upload(DATA / "penguins.csv")
    with serving(ScriptedChat()) as chat:
        config = ChatConfig("openai:scripted", chat.base_url, {"openai": "test"})
        drive = lab.drive(GOAL, QUICK, MemoryJournal(max_calls={"chat": 5}), chat=config)
        result = drive.spec.result(await drive.run())
    assert result["model"]
    assert len(chat.requests) == 5
