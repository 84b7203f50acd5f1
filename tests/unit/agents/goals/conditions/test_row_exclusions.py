"""Exclusions of rows and of columns."""

import pytest

from app.agents.goals.conditions.row_exclusions import settle_exclusions
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import Column, TableProfile

STAYS = TableProfile(
    "hotel_stays",
    900,
    (
        Column("total_eur", "number", "numeric", 800, low=60.0, high=3_000.0),
        Column(
            "segment",
            "text",
            "category",
            3,
            top=("Group", "Corp", "Direct"),
            values=("Group", "Corp", "Direct"),
        ),
        Column("is_cancelled", "integer", "boolean", 2, top=(0, 1), values=(0, 1), low=0, high=1),
        Column("lead_time", "integer", "numeric", 300, low=0, high=320),
        Column("guest_no", "integer", "id", 400, low=1, high=400),
        Column("smoker", "text", "boolean", 2, top=("no", "yes"), values=("no", "yes")),
    ),
)


@pytest.mark.parametrize(
    ("text", "rows", "columns"),
    [
        ("revenue without cancelled bookings", ("cancelled bookings",), ()),
        ("predict total_eur without cancelled bookings", ("cancelled bookings",), ()),
        ("total revenue excluding group bookings", ("group bookings",), ()),
        ("total revenue without cancellations", ("cancellations",), ()),
        # A model may have a column left out, and a name is one of a column.
        ("predict total_eur without cancellations", (), ("cancellations",)),
        ("predict total_eur without lead time", (), ("lead time",)),
        # Guests have a number, and smokers are persons.
        ("predict total_eur without cancelled guests", ("cancelled guests",), ()),
        ("predict total_eur without the smokers", ("smokers",), ()),
        ("predict total_eur without the smoker", (), ("smoker",)),
    ],
)
def test_a_flag_before_a_noun_leaves_out_rows(
    text: str, rows: tuple[str, ...], columns: tuple[str, ...]
) -> None:
    goal = settle_exclusions(parse_goal(text), [STAYS])
    assert (goal.excluded_rows, goal.excluded_phrases) == (rows, columns)
