"""The fork that takes the other side of an assumption."""

from typing import Any

import pytest

from app.modeling.facts.assumptions import AssumptionSide
from app.recorded_call import RecordedCall
from app.reporting.evidence import RecordedFact
from app.reporting.pages.assumption_forks import find_fork
from app.sessions.forks.schemas import ForkCreate

OPTIONS = {"holds": "keep them", "otherwise": "leave them out"}


def measured(kind: str, columns: list[str]) -> RecordedFact:
    value = {"kind": kind, "columns": columns, "question": "Will `fee` be known?", "options": OPTIONS}
    call = RecordedCall(4, "data_analysis", "tool:0.0", "perform_eda", "data_analyst", {}, {})
    return RecordedFact(call, "/assumptions/0", value)


def question(text: str, options: list[str]) -> RecordedCall:
    request = {"question": text, "options": options}
    return RecordedCall(4, "data_analysis", "tool:1.0", "ask_user", "data_analyst", request, {"answer": "x"})


@pytest.mark.parametrize("side", AssumptionSide)
def test_a_question_that_was_asked_is_answered_in_the_other_way(side: AssumptionSide) -> None:
    asked = question("Will `fee` be known?", [*OPTIONS.values()])
    other = {"holds": "leave them out", "otherwise": "keep them"}[side]
    expected = {"at": {"question": "4.tool:1.0"}, "change": {"answer": other}}
    assert find_fork([asked], measured("column", ["fee"]), side) == expected
    ForkCreate.model_validate(expected)


@pytest.mark.parametrize(
    ("kind", "columns", "fork"),
    [
        ("column", ["fee", "due"], {"at": {"step": 4}, "change": {"settings": {"leave_out": ["fee", "due"]}}}),
        ("joined_table", ["age"], {"at": {"step": 4}, "change": {"settings": {"leave_out": ["age"]}}}),
        ("entities", ["shop"], {"at": {"step": 1}, "change": {"preferences": {"group_column": "shop"}}}),
        ("time", ["day"], {"at": {"step": 1}, "change": {"preferences": {"time_column": "day"}}}),
        ("entities", ["name", "year"], None),
        ("recorded_target", [], None),
        ("equal_rows", [], None),
    ],
)
def test_without_a_question_the_settings_take_the_other_side(
    kind: str, columns: list[str], fork: dict[str, Any] | None
) -> None:
    others = [question("Will `tax` be known?", [*OPTIONS.values()]), question("Will `fee` be known?", ["yes"])]
    assert find_fork(others, measured(kind, columns), AssumptionSide.HOLDS) == fork
    assert find_fork(others, measured(kind, columns), AssumptionSide.OTHERWISE) is None
    if fork is not None:
        ForkCreate.model_validate(fork)


def test_a_side_that_is_no_option_has_no_fork() -> None:
    condition = measured("time", ["code"])
    condition.value["options"] = {"holds": "codes among those of the table"}
    assert find_fork([], condition, AssumptionSide.HOLDS) is None
