"""A whole session on a chat model over HTTP: OpenAI's wire format, real cells, a provider that stumbles."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.fast_families import FAST_FAMILIES
from tests.scripted_chat import ScriptedChat, serving

from app.llm.config import ChatConfig
from app.sessions.events.events import TokenStreamed
from app.sessions.in_memory import MemoryDrive, MemoryJournal

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

DATA = Path(str(files("bokeh_sampledata"))) / "_data"
GOAL = "Which species is a penguin?"
UNANSWERED = ("429", "500", "dropped", "cut")
"""Asked again by themselves; two in a row, so that the third try is answered."""
EVERY_FAULT = ("429", "500", "malformed", "dropped", "cut", "refusal", "half a call", "slow")
OUTPUTS = ("Plan", "Retrieved", "Analysis", "Prepared", "Trained", "Verdict", "Tuned", "Reported")
QUICK = {"time_budget_s": 15, "deterministic": True, "seed": 3, **FAST_FAMILIES}


def calls(journal: MemoryJournal) -> list[tuple[str, Any]]:
    """By their places in the journal: of calls side by side, either may be recorded first."""
    placed = sorted(zip(journal.calls, journal.recorded, strict=True), key=lambda entry: entry[0])
    return [(call.name, call.request) for _, (call, done) in placed if call.kind == "tool" and not done.failed]


async def finished(drive: MemoryDrive) -> dict[str, Any]:
    result = drive.spec.result(await drive.run())
    ranked = [{key: value for key, value in fit.items() if key != "fit_s"} for fit in result["leaderboard"]]
    return {"ranked": ranked, **{key: result[key] for key in ("problem", "split", "holdout", "importances")}}


async def test_every_fault_at_every_agent_changes_nothing_of_what_the_crew_comes_to(lab):
    await lab.upload(DATA / "penguins.csv")
    offline = lab.drive(GOAL, QUICK)
    expected = await finished(offline)
    with serving(ScriptedChat(agent_faults=EVERY_FAULT)) as chat:
        config = ChatConfig("openai:scripted", chat.base_url, {"openai": "test"}, streaming=True)
        online = lab.drive(GOAL, QUICK, chat=config)
        result = await finished(online)
    assert result == expected
    assert calls(online.journal) == calls(offline.journal)
    assert {*OUTPUTS} <= set(chat.heard_from)
    assert all(requests > len(EVERY_FAULT) for requests in chat.heard_from.values())
    assert all(request["stream"] for request in chat.requests)
    used = [done.usage for call, done in online.journal.recorded if call.kind == "chat"]
    assert len(used) == len(chat.requests) - len(UNANSWERED) * len(chat.heard_from)
    assert all(usage["input_tokens"] > 0 and usage["output_tokens"] > 0 for usage in used)
    agents = {event.agent for event in online.journal.events if isinstance(event, TokenStreamed)}
    assert {"planner", "data_retrieval", "data_analyst", "model_trainer", "model_evaluator"} <= agents
