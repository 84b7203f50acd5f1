"""States of rows that a goal says by a word for a yes/no column or for an amount."""

import pytest

from app.agents.goals.conditions.row_conditions import describe_conditions
from app.agents.goals.conditions.states import find_selecting_columns, find_states
from app.agents.goals.tables.profiles import Column, TableProfile

DESKS = TableProfile(
    "desks",
    4_000,
    (
        Column("seat_id", "text", "id", 4_000, unique=True),
        Column("rain_mm", "number", "numeric", 300, low=0.0, high=40.0),
        Column("temp_c", "number", "numeric", 300, low=-12.0, high=33.0),
        Column("occ", "integer", "boolean", 2, top=(1, 0), values=(1, 0), low=0, high=1),
        Column("pets_n", "integer", "numeric", 4, top=(0, 1, 2, 3), values=(0, 1, 2, 3), low=0, high=3),
        Column("window_open", "integer", "boolean", 2, top=(0, 1), values=(0, 1), low=0, high=1),
        Column("insured", "boolean", "boolean", 2, top=("N", "Y"), values=("N", "Y"), is_stored_as_text=True),
        Column("vip", "boolean", "boolean", 2, top=(False, True), values=(False, True)),
        Column("xfer_cnt", "integer", "numeric", 5, top=(0, 1), values=(0, 1), low=0, high=4),
        Column("floor_no", "integer", "numeric", 6, top=(1, 2), values=(1, 2), low=0, high=5),
        Column("watts", "number", "numeric", 3_000, low=0.0, high=900.0),
    ),
)


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("predict watts when occupied", "`occ` is 1"),
        ("predict watts of empty desks", "`occ` is 0"),
        ("predict watts on rainy days", "`rain_mm` is above 0"),
        ("predict watts when it's dry", "`rain_mm` is 0"),
        ("predict watts on frosty days", "`temp_c` is below 0"),
        ("predict watts for tenants with pets", "`pets_n` is above 0"),
        ("predict watts for desks with no pets", "`pets_n` is 0"),
        ("predict watts when the window is open", "`window_open` is 1"),
        ("predict watts while the windows are shut", "`window_open` is 0"),
        ("predict watts for uninsured tenants", "`insured` is N"),
        ("predict watts for people who are insured", "`insured` is Y"),
        ("predict watts of non-vip guests", "`vip` is False"),
        ("predict watts of transferred guests", "`xfer_cnt` is above 0"),
        ("predict watts when nobody was transferred", "`xfer_cnt` is 0"),
    ],
)
def test_states_of_yes_no_columns_and_amounts_are_conditions(goal: str, expected: str) -> None:
    states = find_states(goal, [DESKS], "watts")
    assert describe_conditions([state.condition for state in states]) == expected


@pytest.mark.parametrize(
    "goal",
    [
        "predict occupancy in march",
        "predict watts with rain and pets",
        "the effect of rain on watts",
        "predict watts when rain is above 5",
        "predict watts when the windows are blue",
        "when will the window be open",
        "predict watts by pets",
        "predict watts",
    ],
)
def test_inputs_causes_bounds_and_what_is_asked_for_are_no_states(goal: str) -> None:
    assert find_states(goal, [DESKS], "watts") == []


def test_the_target_is_not_restricted() -> None:
    assert find_states("predict rain on rainy days", [DESKS], "rain_mm") == []


@pytest.mark.parametrize(
    ("goal", "names"),
    [
        ("predict the watts of vip guests", ["vip"]),
        ("predict the satisfaction of insured tenants", ["insured"]),
        ("predict the number of vip guests", []),
        ("predict the number of guests on floor 1", ["floor_no"]),
        ("predict floor 1", []),
        ("the probability of insured guests", []),
        ("tell me if the tenants are insured", []),
    ],
)
def test_a_state_before_a_plural_only_selects_rows(goal: str, names: list[str]) -> None:
    assert find_selecting_columns(goal, [DESKS]) == names
