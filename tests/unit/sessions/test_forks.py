"""Points of forks, decided without a database."""

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from app.errors import LabError
from app.sessions.fork_record import ForkRecord, read_fork
from app.sessions.forks.schemas import ForkChange, ForkCreate, ForkPoint
from app.sessions.forks.source import ForkSource, RecordedStep, SourceQuestion, check_point, find_step
from app.sessions.lifecycle import SessionStatus

SOURCE = ForkSource(
    graph="pipeline",
    goal="Predict",
    preferences={},
    status=SessionStatus.COMPLETED,
    step=3,
    last_seq=4,
    has_ended=True,
    steps=[RecordedStep(1, "planning", {"plan": {"a": 1}}), RecordedStep(2, "split", {"problem": {"b": 2}})],
)
QUESTION = SourceQuestion("3.ask", "clarification", {"answer_schema": {"type": "string"}})


def refusal(source: ForkSource, at: dict[str, Any], **change: Any) -> str | None:
    point = ForkPoint(**at)
    try:
        check_point(replace(source, step=find_step(point)), point, ForkChange(**change))
    except LabError as error:
        return error.code
    return None


def test_each_recorded_step_is_a_point() -> None:
    assert [refusal(SOURCE, {"step": step}) for step in (1, 4, 5)] == [None, None, "step_not_recorded"]


def test_a_session_that_failed_can_be_forked_at_the_step_that_failed() -> None:
    failed = replace(SOURCE, status=SessionStatus.FAILED)
    assert [refusal(failed, {"step": step}) for step in (5, 6)] == [None, "step_not_recorded"]


def test_sources_without_a_journal_a_worker_or_steps_are_refused() -> None:
    assert refusal(replace(SOURCE, is_forgotten=True), {"step": 2}) == "journal_expired"
    assert refusal(replace(SOURCE, is_runnable=False), {"step": 2}) == "graph_version"
    assert refusal(replace(SOURCE, graph="run"), {"step": 1}) == "run_not_forkable"


def test_only_an_answer_changes_at_a_question() -> None:
    asked = replace(SOURCE, question=QUESTION)
    at = {"question": "3.ask"}
    assert refusal(asked, at, answer=None) is None
    assert refusal(asked, at) == "answer_missing"
    assert refusal(asked, at, answer="x", note="and this") == "only_answer_at_question"
    assert refusal(asked, {"step": 3}, answer="x") == "answer_needs_question"
    assert refusal(SOURCE, at, answer="x") == "question_not_found"
    budget = replace(asked, question=replace(QUESTION, kind="budget"))
    assert refusal(budget, at, answer=5) == "budget_question"


CHANGES: dict[str, dict[str, Any]] = {
    "none": {},
    "settings": {"settings": {"metric": "f1"}},
    "preferences": {"preferences": {"time_budget_s": 5}},
    "note": {"note": "Only linear models."},
    "answer": {"answer": "x"},
}
ASKED = replace(SOURCE, question=QUESTION)
FORKED = replace(SOURCE, record=ForkRecord(3, change={"note": "n"}))
AT_STEP, AT_QUESTION = {"step": 3}, {"question": "3.ask"}
MATRIX: dict[str, tuple[ForkSource, dict[str, Any], set[str]]] = {
    "a step": (SOURCE, AT_STEP, {"none", "settings", "preferences", "note"}),
    "a question": (ASKED, AT_QUESTION, {"answer"}),
    "a question about a budget": (
        replace(ASKED, question=replace(QUESTION, kind="budget")),
        AT_QUESTION,
        set(),
    ),
    "a step that has not run": (SOURCE, {"step": 9}, set()),
    "a copied step of a fork": (FORKED, {"step": 2}, set()),
    "a session without its journal": (replace(SOURCE, is_forgotten=True), AT_STEP, set()),
    "a session of another version": (replace(SOURCE, is_runnable=False), AT_STEP, set()),
    "a run": (replace(SOURCE, graph="run"), AT_STEP, set()),
    "a turn": (replace(SOURCE, graph="chat"), AT_STEP, set()),
}
"""Points with their sources, and the changes that are allowed there."""
REMEDIES = ("Fork ", "fork ", "send ", "Start ", "start ", "branch ")


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("place", MATRIX)
def test_each_pair_is_allowed_or_refused_with_what_would_do(place: str, change: str) -> None:
    source, at, allowed = MATRIX[place]
    point = ForkPoint(**at)
    arguments = replace(source, step=find_step(point)), point, ForkChange(**CHANGES[change])
    if change in allowed:
        check_point(*arguments)
        return
    with pytest.raises(LabError) as refused:
        check_point(*arguments)
    assert any(remedy in refused.value.detail for remedy in REMEDIES), refused.value.detail


@pytest.mark.parametrize("key", ["", ".", "x.ask", "99999.ask", "٣.ask"])
def test_a_key_without_a_step_is_no_question(key: str) -> None:
    with pytest.raises(LabError, match="no question"):
        find_step(ForkPoint.model_construct(step=None, question=key))


def test_steps_from_before_the_change_of_a_fork_are_forked_in_its_source() -> None:
    fork = replace(SOURCE, record=ForkRecord(3, change={"note": "n"}))
    assert [refusal(fork, {"step": step}) for step in (2, 3)] == ["step_of_source", None]
    assert refusal(replace(SOURCE, record=ForkRecord(3)), {"step": 2}) is None


def test_the_state_of_a_fork_has_the_overlays_of_the_copied_steps() -> None:
    record = ForkRecord(2, overlays={1: {"plan": {"a": 9}}, 5: {"plan": {"a": 0}}}, notes=("one", "two"))
    fork = replace(SOURCE, record=read_fork(_dump(record)))
    assert fork.state == {"plan": {"a": 9}, "problem": {"b": 2}}
    assert fork.record
    assert fork.record.extend_goal("Predict") == "Predict\none\ntwo"
    assert read_fork(None) is None


def _dump(record: ForkRecord) -> str:
    return json.dumps(record.to_json())


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"at": {}},
        {"at": {"step": 1, "question": "1.a"}},
        {"at": {"step": 0}},
        {"at": {"step": 10**12}},
        {"at": {"step": 1}, "change": {"settings": {"target": "x"}}},
        {"at": {"step": 1}, "change": {"preferences": {"surprise": 1}}},
        {"at": {"step": 1}, "change": {"note": ""}},
    ],
)
def test_malformed_requests_are_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ForkCreate.model_validate(body)
