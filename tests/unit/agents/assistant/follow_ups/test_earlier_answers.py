"""Messages that return to an earlier answer of the conversation."""

from collections.abc import Sequence

import pytest

from app.agents.assistant.brief import EarlierTurn, LastChart
from app.agents.assistant.follow_ups.changed_plan import UnclearChange
from app.agents.assistant.follow_ups.earlier_answers import list_answers, return_to_answer
from app.agents.assistant.follow_ups.requests import read_follow_up
from app.plans.plan import Plan

from ...shop_tables import TABLES
from .test_requests import ask, turn_of

CHANGES = ("only 2024", "sort by revenue, lowest first", "by category instead")


def converse(question: str, *messages: str) -> list[EarlierTurn]:
    """The turns of a question and of messages that change its answer."""
    earlier: list[EarlierTurn] = ask(question)
    for message in messages:
        changed = read_follow_up(message, earlier, TABLES)
        assert changed is not None, message
        earlier.append(turn_of(changed.plan, message, changed.chart))
    return earlier


def message_returned_to(message: str, earlier: Sequence[EarlierTurn]) -> str:
    returned = return_to_answer(message, earlier)
    assert returned is not None, message
    return returned.answer.message


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ("undo", 2),
        ("undo that, please", 2),
        ("no, go back", 2),
        ("take that back", 2),
        ("back to the previous table", 2),
        ("undo two changes", 1),
        ("go back two steps", 1),
        ("undo the sorting", 1),
        ("go back to before the filter", 0),
        ("back to how it was before only 2024", 0),
        ("undo the filter", 0),
        ("back to the first answer", 0),
        ("go back to 2024", 1),
        ("back to the total revenue by region", 0),
    ],
)
def test_a_message_returns_to_the_answer_that_it_names(message: str, place: int) -> None:
    earlier = converse("total revenue by region", *CHANGES)
    assert message_returned_to(message, earlier) == earlier[place].message


def test_a_second_undo_goes_back_further_and_later_changes_begin_there() -> None:
    earlier = converse("total revenue by region", *CHANGES, "undo", "undo that")
    assert [answer.message for answer in list_answers(earlier)] == [earlier[0].message, CHANGES[0]]
    assert earlier[-1].plan == earlier[1].plan
    earlier = converse("total revenue by region", "only 2024", "undo", "only 2023", "undo")
    assert earlier[-1].plan == earlier[0].plan


def test_an_answer_that_was_a_chart_is_drawn_again() -> None:
    earlier = [*ask("total revenue by region", LastChart("bar", "region", ["total revenue"]))]
    earlier.append(turn_of(Plan.model_validate(earlier[0].plan), "as a table"))
    changed = read_follow_up("undo that", earlier, TABLES)
    assert changed is not None
    assert changed.chart is not None
    assert message_returned_to("back to the bar chart", earlier) == earlier[0].message


def test_what_cannot_be_taken_back_is_said() -> None:
    for earlier in ([], converse("total revenue by region")):
        with pytest.raises(UnclearChange, match="did not find an earlier answer"):
            return_to_answer("undo", earlier)
    of_code = [EarlierTurn("SQL: select 1", sql="SELECT 1"), *ask("total revenue by region")]
    with pytest.raises(UnclearChange, match="came from code"):
        return_to_answer("undo", of_code)
    changing = [*ask("total revenue by region"), EarlierTurn("SQL: update orders ...", changed=("orders",))]
    with pytest.raises(UnclearChange, match="changes of tables stay"):
        return_to_answer("undo that", changing)
    with pytest.raises(UnclearChange, match="did not find the answer before"):
        return_to_answer("go back to before the chart", converse("total revenue by region", "only 2024"))


@pytest.mark.parametrize("message", ["which orders came back", "revenue before 2024", "back orders by region"])
def test_other_messages_return_to_nothing(message: str) -> None:
    assert return_to_answer(message, converse("total revenue by region", "only 2024")) is None
