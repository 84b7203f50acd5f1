"""Remarks are answered from what the conversation holds."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from app.agents.assistant.brief import ChatBrief, EarlierTurn
from app.agents.assistant.offline_rules import decide

from ..conftest import conversation
from .test_sentences_that_ask_for_no_query import ORDERS


def make_turn(message: str, function: str, column: str | None) -> EarlierTurn:
    figure = {"name": "figure", "function": function} | ({"column": column} if column else {})
    plan: dict[str, Any] = {
        "source": {"kind": "dataset", "table": "orders"},
        "steps": [{"kind": "group", "keys": ["region"], "aggregations": [figure]}],
    }
    return EarlierTurn(message, text="2 rows.", columns=["region", "figure"], sql="SELECT 1", plan=plan)


MEAN = make_turn("average revenue by region", "mean", "revenue")
COUNT = make_turn("orders by region", "count", None)


def answer(message: str, earlier: Sequence[EarlierTurn] = (), summary: str = "") -> AIMessage:
    brief = ChatBrief(message, [ORDERS], earlier, summary=summary)
    decided: AIMessage = decide(conversation(asdict(brief)))
    return decided


@pytest.mark.parametrize(
    "message", ["thanks!", "ok, thank you very much", "great, thanks", "thanks, that's all"]
)
def test_thanks_are_no_greeting(message: str) -> None:
    assert answer(message, [MEAN]).text.startswith("You are welcome")
    assert answer("hello").text.startswith("Hello")


def test_the_first_message_and_result_are_told_again() -> None:
    assert "'average revenue by region'" in answer("what did I ask first?", [MEAN, COUNT]).text
    assert "- an older one" in answer("what did I ask first?", [MEAN], "- an older one").text
    [call] = answer("what was the first result?", [MEAN, COUNT]).tool_calls
    assert call["args"]["readings"] == ["The answer to 'average revenue by region'."]
    assert "no third result" in answer("show me the third result", [MEAN, COUNT]).text


@pytest.mark.parametrize("message", ["why?", "why is that?", "but how come?"])
def test_reasons_are_no_part_of_an_answer(message: str) -> None:
    text = answer(message, [MEAN]).text
    assert "`predict revenue` starts a study" in text
    assert "cause" in text
    assert "predict" not in answer(message, [COUNT]).text


def test_means_get_intervals_and_counts_do_not() -> None:
    [call] = answer("is that significant?", [MEAN]).tool_calls
    assert "low (95 %)" in str(call["args"]["plan"])
    assert answer("is that significant?", [COUNT]).text.startswith("Counts and lists have no spread")
    total = make_turn("total revenue by region", "sum", "revenue")
    assert "average revenue by region" in answer("is the difference significant?", [total]).text
