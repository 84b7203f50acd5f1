"""Rules of intent beyond the corpus: a workflow's own names, earlier messages, and hostile words."""

import pytest

from app.workflows.document import WorkflowDocument
from app.workflows.intent.classification import classify_intent

WORKFLOW = WorkflowDocument.model_validate({"nodes": [{"id": "cleaned", "type": "distinct"}]})


def test_a_name_of_a_node_is_a_part_of_the_workflow() -> None:
    assert classify_intent("remove cleaned", WORKFLOW).lane == "patch"
    assert classify_intent("remove cleaned").lane == "unclear"


@pytest.mark.parametrize(
    ("message", "lane"),
    [
        ("draw a chart of amount by region after cleaned", "patch"),
        ("draw a chart of amount by region", "execute"),
        ("for each region send an email to ops", "patch"),
        ("for each region show the best day", "execute"),
    ],
)
def test_what_is_put_beside_a_node_or_done_for_each_value_lasts(message: str, lane: str) -> None:
    assert classify_intent(message, WORKFLOW).lane == lane
    assert classify_intent(message).lane != "patch"


@pytest.mark.parametrize(
    ("message", "lane"),
    [
        ("every monday at 9 give me the revenue by category", "patch"),
        ("every Friday at noon, show us total sales", "patch"),
        ("every month give me the revenue", "unclear"),
        ("show me the orders that are placed every monday", "unclear"),
    ],
)
def test_something_to_see_at_a_time_of_day_that_recurs_lasts(message: str, lane: str) -> None:
    assert classify_intent(message).lane == lane


def test_an_unclear_message_is_read_with_the_one_that_completes_it() -> None:
    assert classify_intent("weekdays at 8").lane == "unclear"
    assert classify_intent("weekdays at 8", earlier=["run it"]).lane == "patch"


@pytest.mark.parametrize("message", ["", " ", "?", "\x00", "if " * 700, "every " * 700, "a" * 20_000, "((("])
def test_words_without_a_request_are_never_a_patch(message: str) -> None:
    assert classify_intent(message).lane != "patch"


@pytest.mark.parametrize(
    "message",
    [
        "how many are late? from now on tell ops each time one is",
        "Show me the late ones. Send an email every time there is a new one.",
    ],
)
def test_a_wish_for_data_and_one_for_good_are_asked_about(message: str) -> None:
    assert classify_intent(message).lane == "unclear"


@pytest.mark.parametrize(
    ("message", "lane"),
    [
        ("nothing goes out until I have checked it", "patch"),
        ("do not post it before we have agreed", "patch"),
        ("show what was sent before we approved it", "execute"),
        ("orders that came before we said yes", "execute"),
    ],
)
def test_what_waits_for_a_person_lasts(message: str, lane: str) -> None:
    assert classify_intent(message).lane == lane
