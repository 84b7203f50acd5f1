"""A message that is not understood is answered by its nearest readings, of which the next message takes one."""

from dataclasses import asdict

import pytest
from langchain_core.messages import AIMessage
from tests.corpora.conversations import PlannerQuestion, run_planner

from app.agents.assistant.brief import ChatBrief, EarlierTurn
from app.agents.assistant.offered_readings import list_suggestions
from app.agents.assistant.offline_rules import decide
from app.agents.planner.output import Plan
from app.tools.conversations.user_words import find_option

from ..conftest import conversation

VISITS = {
    "table": "visits",
    "rows": 300,
    "columns": [
        {
            "name": "physician",
            "type": "text",
            "hint": "category",
            "distinct": 3,
            "top": [{"value": value} for value in ("Holm", "Silva", "Kolb")],
        },
        {"name": "wait_before_min", "type": "number", "hint": "numeric", "distinct": 90, "min": 0, "max": 90},
        {"name": "wait_after_min", "type": "number", "hint": "numeric", "distinct": 90, "min": 0, "max": 90},
    ],
}
QUESTION = "What is the average wait by physician?"


def answer(message: str, *earlier: EarlierTurn) -> AIMessage:
    decided: AIMessage = decide(conversation(asdict(ChatBrief(message, [VISITS], earlier))))
    return decided


@pytest.fixture
def offer() -> EarlierTurn:
    return EarlierTurn(QUESTION, text=answer(QUESTION).text)


def test_the_readings_are_numbered(offer: EarlierTurn) -> None:
    assert "1. the mean of `wait_before_min` for each `physician`, from `visits`;" in offer.text
    assert "2. the mean of `wait_after_min` for each `physician`, from `visits`" in offer.text


@pytest.mark.parametrize(
    "message",
    ["2", "number 2", "the second one", "The mean of `wait_after_min` for each `physician`, from `visits`."],
)
def test_the_next_message_takes_one(offer: EarlierTurn, message: str) -> None:
    [call] = answer(message, offer).tool_calls
    assert call["name"] == "execute_query_plan"
    assert "wait_after_min" in str(call["args"]["plan"])
    assert "wait_before_min" not in str(call["args"]["plan"])


def test_each_offered_reading_is_a_message_that_takes_it(offer: EarlierTurn) -> None:
    suggestions = list_suggestions(offer.text)
    assert len(suggestions) == 2
    for column, message in zip(("wait_before_min", "wait_after_min"), suggestions, strict=True):
        assert find_option(message, suggestions) == message
        [call] = answer(message, offer).tool_calls
        assert column in str(call["args"]["plan"])


def test_examples_of_an_answer_are_messages_and_other_words_are_none() -> None:
    text = answer("What is the weather like?").text
    assert all(answer(message).tool_calls for message in list_suggestions(text))
    changed = "Say, for example: sort by `n`; the top 3; as a bar chart; or ask the whole question again."
    assert list_suggestions(changed) == ["sort by `n`", "the top 3", "as a bar chart"]
    assert list_suggestions("Do you mean `a`? Say yes, or ask in other words.") == ["`a`"]
    assert list_suggestions("The mean of `a`: 3.") == []


def test_a_number_without_an_offer_takes_nothing() -> None:
    assert not answer("2", EarlierTurn(QUESTION, text="The answer has 3 rows.")).tool_calls


def test_a_question_to_the_planner_is_settled_by_one_of_its_readings() -> None:
    asked = run_planner(QUESTION, [VISITS])
    assert isinstance(asked, PlannerQuestion)
    before, after = asked.options[:2]
    assert "wait_before_min" in before
    plan = run_planner(QUESTION, [VISITS], [after])
    assert isinstance(plan, Plan)
    assert plan.question == QUESTION
    assert plan.understanding
    assert (plan.understanding.text, plan.understanding.confidence) == (f"I will answer with {after}.", 1.0)


def test_a_question_that_is_ended_names_its_nearest_reading() -> None:
    plan = run_planner(QUESTION, [VISITS], ["nothing, end here"])
    assert isinstance(plan, Plan)
    assert plan.target == "?"
    assert "The nearest reading is: the mean of `wait_before_min`" in plan.notes[0]


def test_yes_takes_the_only_option() -> None:
    assert find_option("Yes.", ["a"]) == "a"
    assert find_option("yes", ["a", "b"]) is None
    assert find_option("4", ["a", "b"]) is None
    assert find_option("the last one", ["a", "b"]) == "b"
