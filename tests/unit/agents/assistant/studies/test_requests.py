"""Messages about studies: goals, answers, forks, comparisons and single rows."""

from dataclasses import replace
from typing import Any

import pytest

from app.agents.assistant.brief import ChatBrief
from app.agents.assistant.studies.descriptions import describe_comparison, describe_explanation, describe_study
from app.agents.assistant.studies.requests import (
    StudyCall,
    StudyRefusal,
    read_free_answer,
    read_study_message,
)
from app.tools.context.conversation_studies import StudyCard, StudyQuestion

from ...shop_tables import TABLES

FIRST = StudyCard("one", "predict revenue", "completed", holdout={"value": 0.8123}, metric="roc_auc")
SECOND = replace(FIRST, id="two", forked_from="one", leaves_out=["cost"])
ASKING = StudyCard(
    "three", "predict it", "awaiting_user", StudyQuestion("1.ask:1", "Which column?", ["revenue", "cost"])
)


def read(message: str, *studies: StudyCard) -> StudyCall | StudyRefusal | None:
    return read_study_message(ChatBrief(message, studies=studies), TABLES)


@pytest.mark.parametrize(
    "message",
    [
        "predict revenue",
        "Please forecast revenue for the next 4 weeks",
        "train a model that predicts cost",
        "are there any outliers?",
        "segment the customers into 3 groups",
    ],
)
def test_a_goal_starts_a_study(message: str) -> None:
    assert read(message) == StudyCall("start_study", {"goal": message})


@pytest.mark.parametrize(
    "message", ["total revenue by region", "what was predicted?", "how many rows", "only 2024"]
)
def test_a_question_starts_none(message: str) -> None:
    assert read(message, FIRST) is None


@pytest.mark.parametrize(("message", "answer"), [("Cost", "cost"), ("2", "cost"), ("the first one", "revenue")])
def test_an_option_answers_the_study_that_asks(message: str, answer: str) -> None:
    arguments = {"study": "three", "question": "1.ask:1", "answer": answer}
    assert read(message, FIRST, ASKING) == StudyCall("answer_study", arguments)
    assert read(message, FIRST) is None


def test_words_answer_a_study_only_where_it_asks_for_words() -> None:
    assert read_free_answer(ChatBrief("by next spring", studies=[ASKING])) is None
    asking = replace(ASKING, question=StudyQuestion("1.ask:1", "By when?", is_text=True))
    assert read_free_answer(ChatBrief("by next spring", studies=[asking])) == StudyCall(
        "answer_study", {"study": "three", "question": "1.ask:1", "answer": "by next spring"}
    )


def test_what_if_forks_the_newest_finished_study() -> None:
    fork = StudyCall("fork_study", {"study": "two", "leave_out": ["cost", "region"]})
    assert read("what if we leave out cost and the region?", FIRST, SECOND, ASKING) == fork
    unknown = read("what if we leave out the weather?", FIRST)
    assert isinstance(unknown, StudyRefusal)
    assert "weather" in unknown.reason
    assert isinstance(read("what if we leave out cost?", ASKING), StudyRefusal)


def test_studies_are_compared_and_single_rows_explained() -> None:
    assert read("compare both", FIRST, SECOND) == StudyCall("compare_studies", {"studies": ["one", "two"]})
    assert isinstance(read("compare both", FIRST), StudyRefusal)
    assert read("compare the north with the south", FIRST, SECOND) is None
    explained = StudyCall("explain_prediction", {"study": "one", "row": 17})
    assert read("why does it say so for row 17 of the last table?", FIRST) == explained


def test_a_study_is_described_by_its_question_and_its_result() -> None:
    assert "(2) cost" in describe_study(ASKING)
    assert "roc_auc 0.8123" in describe_study(FIRST)
    assert describe_study(replace(FIRST, status="running")) == "The study is running."


def test_a_difference_is_stated_with_its_interval_and_its_verdict() -> None:
    sessions = [{"metric": "roc_auc", "holdout": {"value": value}} for value in (0.8, 0.7)]
    change: dict[str, Any] = {"kind": "setting", "name": "exclude", "first": [], "second": ["cost"]}
    metrics = {"roc_auc": {"value": -0.1, "low": -0.15, "high": -0.05, "better": "one"}}
    pair = {"differences": [change], "holdout": {"rows": 120, "reason": None, "metrics": metrics}}
    words = describe_comparison({"sessions": sessions, "pairs": [pair]})
    assert "exclude: none and cost" in words
    assert "-0.1 (-0.15 to -0.05): that is beyond chance" in words


def test_an_explanation_names_the_largest_effects_with_their_signs() -> None:
    effects = [{"column": "tenure", "value": 2, "usual": 36, "effect": 0.31}]
    value = {"row": 17, "table": "customers", "target": "churn", "prediction": "yes", "output": 0.8}
    words = describe_explanation({**value, "is_probability": True, "effects": effects})
    assert "predicted as yes with probability 0.8" in words
    assert "tenure 2 instead of 36 (+0.31)" in words
