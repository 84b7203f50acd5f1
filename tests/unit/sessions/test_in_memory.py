"""The scope in memory keeps the same promises as the one over rows."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from benchmarks.sessions.noop import NODES, spec
from langgraph.errors import GraphInterrupt

from app.sessions.drive.journal import JournalDiverged
from app.sessions.in_memory import MemoryDrive, MemoryJournal, MemoryStep
from app.sessions.step_scope import Call, CallResult, Question, SessionFacts

QUESTION = Question("q", "planner", "Which?", {"enum": ["a", "b"]}, ["a", "b"], "a")


def facts(**preferences: object) -> SessionFacts:
    return SessionFacts(uuid4(), uuid4(), "a goal", preferences, (), 1, datetime.now(UTC))


async def test_a_recorded_call_is_not_made_again() -> None:
    made = []

    async def run() -> CallResult:
        made.append(1)
        return CallResult({"pair": (1, 2)})

    step = MemoryStep(facts())
    call = Call("tool:1", "tool", "pair", "assistant", {})
    assert await step.call(call, run) == {"pair": [1, 2]}
    assert await step.call(call, run) == {"pair": [1, 2]}
    assert made == [1]


async def test_a_recorded_call_with_another_request_diverges() -> None:
    async def run() -> CallResult:
        return CallResult(None)

    step = MemoryStep(facts())
    await step.call(Call("tool:1", "tool", "pair", "assistant", {"n": 1}), run)
    with pytest.raises(JournalDiverged):
        await step.call(Call("tool:1", "tool", "pair", "assistant", {"n": 2}), run)


async def test_a_question_interrupts_until_it_has_an_answer() -> None:
    journal = MemoryJournal()
    step = MemoryStep(facts(), journal)
    with pytest.raises(GraphInterrupt):
        await step.ask(QUESTION)
    journal.answers["1.q"] = "b"
    assert await step.ask(QUESTION) == "b"


async def test_never_clarify_takes_the_default() -> None:
    assert await MemoryStep(facts(clarify="never")).ask(QUESTION) == "a"


async def test_a_graph_runs_and_replays_in_memory() -> None:
    journal = MemoryJournal()
    first = await MemoryDrive(spec(), facts(), journal).run()
    assert [node for node, _ in journal.steps.values()] == list(NODES)
    assert await MemoryDrive(spec(), facts(), journal).run() == first
