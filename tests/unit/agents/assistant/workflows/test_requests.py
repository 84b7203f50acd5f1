"""Messages of a conversation about workflows: what is changed, what is made anew, and what is fetched now."""

from typing import Any

import pytest

from app.agents.assistant.brief import ChatBrief, EarlierTurn
from app.agents.assistant.workflows.requests import (
    Fetch,
    WorkflowRequest,
    read_change_message,
    read_fetch,
    read_sent_data,
)
from app.tools.context.conversation_workflows import MessageLane, MessagePipeline, WorkflowCard

PLAN = {"source": {"kind": "dataset", "table": "cities"}}
ANSWER = EarlierTurn(message="top cities", sql="SELECT 1", plan=PLAN)
CHANGE = EarlierTurn(message="do this daily", workflow="w")
PRICES = {"id": "prices", "config": {"url": "https://a.example/v1"}}
REQUEST = {"type": "http_request", "config": PRICES["config"]}
CARD = WorkflowCard("w", "Flights", 1, requests=[PRICES])


def brief(message: str, lane: MessageLane, *earlier: EarlierTurn, **more: Any) -> ChatBrief:
    return ChatBrief(message, earlier=earlier, lane=lane, **more)


def patch(is_edit: bool = False, workflow: str | None = None) -> MessageLane:
    return MessageLane("patch", "", is_edit, workflow)


@pytest.mark.parametrize(
    ("asked", "arguments"),
    [
        (
            brief("do this every day", patch(), ANSWER),
            {"words": "do this every day", "plan": PLAN, "name": "top cities"},
        ),
        (
            brief("do that every day", patch(workflow="w"), CHANGE, ANSWER),
            {"words": "do that every day", "plan": PLAN, "name": "top cities"},
        ),
        (
            brief("run it every day", patch(workflow="w"), ANSWER, CHANGE),
            {"words": "run it every day", "workflow": "w"},
        ),
        (
            brief("add a step", patch(True, "w"), ANSWER, workflows=[CARD]),
            {"words": "add a step", "workflow": "w"},
        ),
        (
            brief("always email me", patch(), tables=[{"table": "cities"}]),
            {"words": "always email me", "plan": PLAN, "name": "always email me"},
        ),
    ],
)
def test_a_lasting_change_names_its_workflow_or_what_it_is_made_of(
    asked: ChatBrief, arguments: dict[str, Any]
) -> None:
    assert read_change_message(asked) == WorkflowRequest("patch_workflow", arguments)


def test_what_is_meant_is_asked_and_a_follow_up_stays_one() -> None:
    question = read_change_message(brief("add a step", patch(True), workflows=[CARD, CARD]))
    assert question == "Which workflow is to be changed? There are: Flights, Flights."
    assert read_change_message(brief("use the median instead", patch(True, "w"), ANSWER)) is None
    assert read_change_message(brief("show cities", MessageLane(), ANSWER)) is None
    nothing = read_change_message(brief("do this daily", patch()))
    assert isinstance(nothing, str)
    assert nothing.startswith("There is nothing yet")


@pytest.mark.parametrize(
    ("message", "fetched"),
    [
        (
            "fetch the latest prices",
            Fetch([{"type": "http_request", "config": PRICES["config"]}], "prices"),
        ),
        (
            "top 3 prices",
            Fetch([{"type": "http_request", "config": PRICES["config"]}], "prices", "top 3 prices"),
        ),
        ("fetch the weather", None),
    ],
)
def test_a_request_is_named_by_its_address_or_its_noun(message: str, fetched: Fetch | None) -> None:
    assert read_fetch(brief(message, MessageLane(), workflows=[CARD])) == fetched


def test_a_sentence_with_a_source_is_run_made_a_workflow_or_asked_about() -> None:
    source = {"type": "http_request", "config": {"url": "https://b.example/Trains.json?x=1"}}
    now = MessageLane(pipeline=MessagePipeline(source, steps=[source]))
    assert read_fetch(brief("get them", now)) == Fetch([source], "trains")
    assert read_change_message(brief("get them", now)) is None
    lasting = MessageLane(pipeline=MessagePipeline(source, "daily, email me"))
    made = {"words": "daily, email me", "steps": [source], "name": "get them daily"}
    assert read_change_message(brief("get them daily", lasting)) == WorkflowRequest("patch_workflow", made)
    unread = MessageLane(pipeline=MessagePipeline(source, question="Not understood."))
    assert read_change_message(brief("get them", unread)) == "Not understood."
    unnamed = MessageLane(pipeline=MessagePipeline(source, "email me", names_source=False))
    assert read_change_message(brief("email me", unnamed, ANSWER)) is None


@pytest.mark.parametrize(
    ("message", "data"),
    [
        ("email me the top 10 cities by people every Monday", "the top 10 cities by people"),
        ("every morning send me the total people by country", "the total people by country"),
        ("send me an email when the price drops", None),
        ("always send an email when the price drops", None),
        ("do this every day", None),
    ],
)
def test_data_that_is_to_come_is_told_from_messages(message: str, data: str | None) -> None:
    assert read_sent_data(message) == data
