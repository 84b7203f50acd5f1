"""The aim of a goal, and the kinds of quantities that it asks for."""

import pytest

from app.agents.goals.aims.classifier import AIMS, classify_aim
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.quantities import asked_quantities, fits_unit, stored_quantities

FLEET = TableProfile(
    "deliveries",
    9_000,
    (
        Column("delivery_id", "integer", "id", 9_000, unique=True),
        Column("driver", "text", "category", 60, top=("Ada", "Noor")),
        Column("weight_kg", "number", "numeric", 800, low=0.1, high=45),
        Column("delay_min", "number", "numeric", 300, low=-20, high=240),
        Column("tip", "number", "numeric", 90, low=0, high=30),
        Column("refused", "text", "category", 2, top=("yes", "no")),
    ),
)


@pytest.mark.parametrize(
    ("goal", "aim"),
    [
        ("Predict the delay of a delivery", "predict"),
        ("which deliveries will be refused", "predict"),
        ("What drives the tip?", "drivers"),
        ("how many deliveries will there be each day next week", "forecast"),
        ("Give me an overview of the data", "explore"),
        ("average tip per driver", "question"),
        ("Send every driver an email", "unserved"),
    ],
)
def test_the_likeliest_aim_is_that_of_the_goal(goal: str, aim: str) -> None:
    probabilities = classify_aim(parse_goal(goal), (FLEET,))
    assert max(AIMS, key=probabilities.__getitem__) == aim
    assert sum(probabilities.values()) == pytest.approx(1)


@pytest.mark.parametrize("goal", ["", "?", "7", "x" * 10_000, "the the the"])
def test_any_text_has_an_aim(goal: str) -> None:
    assert set(classify_aim(parse_goal(goal), (FLEET,))) == set(AIMS)


@pytest.mark.parametrize(
    ("goal", "kind"),
    [
        ("how long will it take", "time"),
        ("how much will they pay", "money"),
        ("how heavy is it", "mass"),
        ("how many visits", "count"),
        ("where will it happen", "place"),
    ],
)
def test_a_goal_asks_for_a_kind_of_quantity(goal: str, kind: str) -> None:
    assert kind in asked_quantities(goal)


def test_a_column_has_the_quantity_of_its_unit_and_its_name() -> None:
    assert "mass" in stored_quantities(FLEET.columns[2])
    assert "time" in stored_quantities(FLEET.columns[3])
    assert "money" in stored_quantities(FLEET.columns[4])


def test_a_weight_is_no_threshold_of_a_duration() -> None:
    assert fits_unit("kilos", FLEET.columns[2])
    assert not fits_unit("kilos", FLEET.columns[3])
    assert fits_unit(None, FLEET.columns[3])
