"""Columns that say more of an event, and whether it happened."""

import pytest

from app.agents.goals.columns.derived_targets import event_flag
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import Column

FAULT = Column(
    "faultCode", "text", "category", 2, missing=0.8, top=("E02", "E07"), values=("E02", "E07", "E11")
)
REASON = Column(
    "return_reason", "text", "category", 3, missing=0.88, top=("defect",), values=("defect", "size")
)
COLOUR = Column("colour", "text", "category", 3, missing=0.0, top=("red",), values=("red", "blue", "green"))


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("which sites are likely to have a fault", FAULT),
        ("will the parcel be returned", REASON),
        ("predict whether there is a fault", FAULT),
    ],
)
def test_a_goal_that_asks_whether_means_that_a_value_is_there(text: str, column: Column) -> None:
    flag = event_flag(parse_goal(text), column)
    assert flag is not None
    assert flag.derivation is not None
    assert (flag.derivation.kind, flag.derivation.first) == ("present", column.name)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("predict the fault code", FAULT),
        ("what kind of fault will it be", FAULT),
        ("predict the return reason", REASON),
        ("will the colour be red", COLOUR),
    ],
)
def test_a_goal_for_the_code_or_the_reason_means_its_values(text: str, column: Column) -> None:
    assert event_flag(parse_goal(text), column) is None


PRIORITY = Column(
    "priority", "text", "category", 3, missing=0.35, top=("high",), values=("high", "low", "medium")
)
RESULT = Column("result", "text", "category", 3, missing=0.4, top=("win",), values=("win", "loss", "draw"))
SEVERITY = Column(
    "fault_type", "text", "category", 2, missing=0.6, top=("electrical",), values=("electrical", "mechanical")
)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("predict whether the priority is high or low", PRIORITY),
        ("predict if the priority will be raised", PRIORITY),
        ("how likely is each result", RESULT),
        ("will the fault be electrical", SEVERITY),
    ],
)
def test_a_goal_that_names_values_or_no_event_means_the_values(text: str, column: Column) -> None:
    assert event_flag(parse_goal(text), column) is None
