"""Whole questions are answered for themselves, and parts of a question go with the one that is open."""

from collections.abc import Sequence
from dataclasses import asdict

import pytest
from langchain_core.messages import AIMessage

from app.agents.assistant.brief import ChatBrief, EarlierTurn, LastChart
from app.agents.assistant.offline_rules import decide
from app.agents.assistant.open_questions import NOT_UNDERSTOOD, join_open_question
from app.agents.assistant.own_questions import asks_whole_question

from ...conftest import conversation
from ..test_offered_readings import QUESTION, VISITS

GROUPED = {
    "source": {"kind": "dataset", "table": "visits"},
    "steps": [
        {
            "kind": "group",
            "keys": ["physician"],
            "aggregations": [{"name": "rows", "function": "count"}],
        }
    ],
}
BARS = EarlierTurn(
    "visits by physician", columns=["physician", "rows"], sql="SELECT 1", plan=GROUPED, chart=LastChart("bar")
)
OPEN = EarlierTurn(QUESTION, text=f"{NOT_UNDERSTOOD} It can be read in several ways.")


def answer(message: str, earlier: Sequence[EarlierTurn]) -> AIMessage:
    decided: AIMessage = decide(conversation(asdict(ChatBrief(message, [VISITS], earlier))))
    return decided


def test_a_whole_question_behind_a_chart_is_no_change_of_it() -> None:
    [call] = answer("what is the median wait_before_min by physician?", [BARS]).tool_calls
    assert call["name"] == "execute_query_plan"
    assert not any("Grouped" in reading or "The figure" in reading for reading in call["args"]["readings"])


@pytest.mark.parametrize(
    "message", ["what share is that?", "how many of them were late?", "and in 2024?", "which others are there?"]
)
def test_a_message_that_refers_is_no_whole_question(message: str) -> None:
    assert not asks_whole_question(message)


@pytest.mark.parametrize(
    ("message", "joined"),
    [
        ("and for Holm?", "What is the average wait by physician for Holm"),
        ("only in 2024", "What is the average wait by physician in 2024"),
        ("2024?", "What is the average wait by physician in 2024"),
        ("thanks", None),
        ("what is the median wait?", None),
    ],
)
def test_a_part_of_a_question_is_joined_with_the_open_one(message: str, joined: str | None) -> None:
    assert join_open_question(message, [BARS, OPEN]) == joined
    assert join_open_question(message, [OPEN, BARS]) is None


def test_the_readings_of_both_are_offered_and_taken() -> None:
    offered = answer("and for Holm?", [BARS, OPEN]).text
    assert offered.count("`physician` is 'Holm'") >= 2
    [call] = answer("2", [BARS, OPEN, EarlierTurn("and for Holm?", text=offered)]).tool_calls
    assert "wait_after_min" in str(call["args"]["plan"])
    assert "Holm" in str(call["args"]["plan"])


def test_a_change_behind_an_open_question_says_which_answer_it_changes() -> None:
    [call] = answer("the top 2", [BARS, OPEN]).tool_calls
    assert "This changes the answer to 'visits by physician'." in call["args"]["readings"]
    [call] = answer("the top 2", [BARS]).tool_calls
    assert not any("This changes" in reading for reading in call["args"]["readings"])


def test_an_order_of_rows_that_are_named_is_no_failed_change() -> None:
    assert not answer("rank physicians by wait", [BARS]).text.startswith("I did not understand which change")
    assert answer("rank them by happiness", [BARS]).text.startswith("I did not understand which change")
