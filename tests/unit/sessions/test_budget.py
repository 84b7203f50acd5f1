import pytest

from app.errors import InvalidInput
from app.sessions.answer_validation import check_answer
from app.sessions.budget import REPORT, BudgetLedger, make_ledger, read_extra_seconds
from app.sessions.budget_resources import Resource, resolve_budget
from app.sessions.config import SessionsConfig


@pytest.mark.parametrize(
    ("asked", "usual", "most", "budget"),
    [
        ({}, {}, {}, {}),
        ({"tokens": 50}, {"tokens": 100}, {Resource.TOKENS: 200}, {"tokens": 50}),
        ({}, {"tokens": 100}, {Resource.TOKENS: 200}, {"tokens": 100}),
        ({"tokens": None}, {}, {Resource.TOKENS: 200}, {"tokens": 200}),
        ({}, {"tokens": 300}, {Resource.TOKENS: 200}, {"tokens": 200}),
        ({"tool_calls": 7}, {"tokens": 100}, {}, {"tokens": 100, "tool_calls": 7}),
    ],
)
def test_a_budget_is_what_was_asked_for_or_else_what_is_usual(asked, usual, most, budget) -> None:
    assert resolve_budget(asked, usual, most) == budget


def test_more_than_the_operator_allows_is_refused_with_the_limit() -> None:
    with pytest.raises(InvalidInput, match=r"budget\.tokens is 201, and this service allows 200") as refused:
        resolve_budget({"tokens": 201}, {}, {Resource.TOKENS: 200})
    assert refused.value.facts["limit"] == 200


@pytest.mark.parametrize(
    ("kind", "spent", "worked_s", "used_up"),
    [
        ("chat", {Resource.TOKENS: 99}, 0, None),
        ("chat", {Resource.TOKENS: 100}, 0, Resource.TOKENS),
        ("chat", {Resource.COST: 1.0}, 0, Resource.COST),
        ("chat", {Resource.TOOL_CALLS: 10}, 0, None),
        ("tool", {Resource.TOOL_CALLS: 10}, 0, Resource.TOOL_CALLS),
        ("tool", {Resource.TOKENS: 100, Resource.COST: 1}, 0, None),
        ("tool", {}, 60, Resource.SECONDS),
        ("chat", {}, 60, Resource.SECONDS),
    ],
)
def test_a_call_needs_its_own_resources_only(kind, spent, worked_s, used_up) -> None:
    limits = {Resource.TOKENS: 100, Resource.COST: 1, Resource.TOOL_CALLS: 10, Resource.SECONDS: 60}
    assert BudgetLedger(limits, spent=spent).find_exhausted(kind, worked_s) is used_up


def test_each_limit_is_warned_of_once_at_80_percent() -> None:
    ledger = BudgetLedger({Resource.TOKENS: 100.0})
    usage = {"input_tokens": 30, "output_tokens": 10}
    warned = []
    for _ in range(3):
        warned += ledger.make_warnings("chat", usage, 0)
        ledger.add("chat", usage)
    [warning] = warned
    assert (warning.budget, warning.used, warning.limit) == ("tokens", 80, 100)
    ledger.apply_answer(Resource.TOKENS, 60)
    [again] = ledger.make_warnings("chat", {"input_tokens": 10, "output_tokens": 0}, 0)
    assert again.limit == 160


def test_tokens_that_are_used_up_stop_chat_models_and_not_tools() -> None:
    ledger = BudgetLedger({Resource.TOKENS: 1.0})
    ledger.apply_answer(Resource.TOKENS, REPORT)
    assert ledger.is_wrapping_up("chat")
    assert not ledger.is_wrapping_up("tool")


def test_tool_calls_that_are_used_up_stop_both() -> None:
    ledger = BudgetLedger({Resource.TOOL_CALLS: 1.0})
    ledger.apply_answer(Resource.TOOL_CALLS, REPORT)
    assert ledger.is_wrapping_up("chat")
    assert ledger.is_wrapping_up("tool")


@pytest.mark.parametrize(
    ("answer", "fits"), [(50, True), (REPORT, True), (51, False), (0, False), ("more", False)]
)
def test_a_question_takes_a_number_within_the_operators_bound_or_the_word(answer, fits: bool) -> None:
    ledger = BudgetLedger({Resource.TOKENS: 100.0}, {Resource.TOKENS: 150.0}, spent={Resource.TOKENS: 120.0})
    question = ledger.make_question(Resource.TOKENS, "planner", 0)
    assert "120 tokens" in question.text
    assert "100 tokens" in question.text
    if fits:
        check_answer(question.answer_schema, answer)
    else:
        with pytest.raises(InvalidInput):
            check_answer(question.answer_schema, answer)


def test_every_question_has_a_key_of_its_own() -> None:
    ledger = BudgetLedger({Resource.TOKENS: 100.0})
    first = ledger.make_question(Resource.TOKENS, "planner", 0).key
    ledger.apply_answer(Resource.TOKENS, 5)
    assert ledger.make_question(Resource.TOKENS, "planner", 0).key != first


def test_a_ledger_is_made_again_from_the_answers() -> None:
    ledger = make_ledger({"tokens": 10, "seconds": 60}, [("tokens", 5), ("tokens", 1.5), ("seconds", REPORT)])
    assert ledger.limits == {Resource.TOKENS: 16.5, Resource.SECONDS: 60}
    assert ledger.exhausted == {Resource.SECONDS}


@pytest.mark.parametrize(
    ("question", "answer", "moved"),
    [
        ("3.budget:seconds:0", 30, 30),
        ("3.budget:seconds:0", REPORT, 0),
        ("3.budget:tokens:0", 30, 0),
        ("3.ask", 5, 0),
    ],
)
def test_only_added_seconds_move_the_time_limit(question: str, answer, moved: float) -> None:
    assert read_extra_seconds(question, answer) == moved


@pytest.mark.parametrize(
    ("most", "allowed"), [({}, 600.0), ({"seconds": 300}, 300), ({"seconds": 9_000}, 600.0)]
)
def test_no_budget_of_seconds_exceeds_the_time_limit(most, allowed) -> None:
    config = SessionsConfig(time_limit_s=600.0, max_budget=most)
    assert config.resource_limits[Resource.SECONDS] == allowed
    with pytest.raises(InvalidInput, match=f"this service allows {allowed:g} at most"):
        config.make_budget({"seconds": 9_001})
