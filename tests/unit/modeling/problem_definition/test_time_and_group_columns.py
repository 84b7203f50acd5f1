"""Whether rows are ordered in time or belong to groups is read from goal, names and values."""

import numpy as np
import pandas as pd
import pytest

from app.errors import InvalidInput
from app.modeling.labels.labels import make_labels
from app.modeling.problem.goal_hints import mentions_future, mentions_new_entities
from app.modeling.problem_definition.resolve_problem import resolve_problem
from app.modeling.problem_definition.time_and_group_columns import (
    find_group_column,
    find_static_columns,
    find_time_column,
)

from ..frames import people


def visits(patients: int = 60, each: int = 5, name: str = "pid") -> pd.DataFrame:
    """Visits of patients whose height and birthday never change."""
    rng = np.random.default_rng(0)
    who = np.repeat(rng.permutation(patients) + 1000, each)
    height, born = rng.normal(170, 10, patients)[who - 1000], rng.integers(1940, 2000, patients)[who - 1000]
    return pd.DataFrame(
        {
            name: who,
            "height": height,
            "born": born,
            "pulse": rng.normal(70, 8, len(who)),
            "sick": rng.integers(0, 2, len(who)),
        }
    )


def dated(rows: int = 400, a_day: int = 8) -> pd.DataFrame:
    frame = people(rows)
    frame["date"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(rows) // a_day, "D")
    return frame


@pytest.mark.parametrize(
    ("goal", "future"),
    [
        ("Forecast the demand of the coming weeks", True),
        ("Which bookings that arrive in the next months will be cancelled?", True),
        ("Predict sales three weeks ahead", True),
        ("Predict which passengers survived", False),
        ("What will a house like this cost?", False),
        ("Tell benign from malignant tumours", False),
    ],
)
def test_goals_about_the_future_are_recognised(goal: str, future: bool) -> None:
    assert mentions_future(goal) is future


@pytest.mark.parametrize(
    ("goal", "new"),
    [
        ("Predict the number of visits for people who are new to us", True),
        ("Predict the wage of women who are not in the table yet", True),
        ("Predict churn of new customers", True),
        ("Predict the rating that a user we know gives", False),
        ("Predict what our existing customers spend", False),
        ("Predict the rating", None),
    ],
)
def test_goals_about_new_entities_differ_from_goals_about_known_ones(goal: str, new: bool | None) -> None:
    assert mentions_new_entities(goal) is new


def test_a_file_sorted_by_a_date_is_ordered_in_time_with_any_number_of_rows_per_day() -> None:
    found = find_time_column(dated(), "left", has_horizon=False)
    assert found is not None
    assert (found.column, found.reason) == ("date", "the file is sorted by it")
    assert find_time_column(dated().iloc[::-1], "left", has_horizon=False) is not None


def test_a_shuffled_file_is_ordered_in_time_if_the_goal_is_about_the_future() -> None:
    frame = dated().sample(frac=1, random_state=0)
    assert find_time_column(frame, "left", has_horizon=False) is None
    found = find_time_column(frame, "left", has_horizon=False, goal="Who will leave in the coming months?")
    assert found is not None
    assert "is about the future" in found.reason


def test_a_date_of_birth_orders_nothing() -> None:
    frame = dated().rename(columns={"date": "date_of_birth"})
    assert find_time_column(frame, "left", has_horizon=False, goal="who leaves in the coming weeks?") is None


def test_a_group_column_is_found_by_columns_constant_within_it() -> None:
    found = find_group_column(visits(), "sick", "Predict who is sick among new patients")
    assert found is not None
    assert (found.column, found.reason) == ("pid", "'height', 'born' never change within one")
    assert find_static_columns(visits(), "pid", "sick") == ["height", "born"]
    assert find_group_column(visits().rename(columns={"pid": "visit_id"}), "sick") is not None


def test_the_column_of_a_known_entity_stays_an_input() -> None:
    assert find_group_column(visits(name="patient"), "sick") is not None
    assert find_group_column(visits(name="patient"), "sick", "a patient that we know already") is None
    assert find_group_column(visits(12, 40, "patient"), "sick") is None
    assert find_group_column(visits(12, 40, "patient"), "sick", "for new patients") is not None


def test_measures_and_categories_are_not_group_columns() -> None:
    frame = people(300).assign(shop=["a", "b", "c"] * 100, weight=np.repeat(np.arange(60.0), 5))
    assert find_group_column(frame, "left") is None


def test_a_horizon_on_several_series_looks_ahead_within_each() -> None:
    rng = np.random.default_rng(0)
    days = np.repeat(pd.date_range("2024-01-01", periods=200, freq="D"), 5)
    # Whole numbers with many values are unique on each day by chance, and tell no series apart.
    frame = pd.DataFrame({"day": days, "area": rng.permutation(1000), "shop": np.tile(list("abcde"), 200)})
    frame["sales"] = 1000.0 * np.tile(np.arange(5), 200) + np.repeat(np.arange(200), 5)
    resolved = resolve_problem(frame, {"target": "sales", "horizon": 7, "time_column": "day"})
    assert resolved.group_column == "shop"
    labels = make_labels(frame, resolved)
    assert (labels - frame["sales"]).dropna().unique().tolist() == [7.0]
    with pytest.raises(InvalidInput) as refused:
        resolve_problem(frame.drop(columns="shop"), {"target": "sales", "horizon": 7, "time_column": "day"})
    assert refused.value.code == "no_series_column"
