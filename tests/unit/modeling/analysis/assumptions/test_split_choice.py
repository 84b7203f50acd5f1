"""Planted structures of rows are named, both figures are right, and the split takes the cautious side."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from app.modeling.analysis.assumptions.entities_and_order import find_entities
from app.modeling.analysis.assumptions.row_assumptions import measure_assumptions
from app.modeling.analysis.assumptions.split_choice import (
    apply_choice,
    find_structures,
    measure_structures,
    share_known_later,
)
from app.modeling.facts.assumptions import AssumptionJson
from app.modeling.problem.folds import SplitKind
from app.modeling.problem.problem import Problem
from app.modeling.problem_definition.resolve_problem import resolve_problem
from app.modeling.splits.split import split_holdout
from app.modeling.training.deadline import Deadline

from .planted import incomes, panel, ratings, tracks

TOLERANCE = 0.25
"""Share by which another model, of another split, may differ from a measured error beside its interval."""


def measure(frame: pd.DataFrame, target: str, **wish: Any) -> tuple[Problem, dict[str, AssumptionJson]]:
    request = {"target": target, **wish}
    problem = resolve_problem(frame, request)
    train = split_holdout(frame, problem, seed=0).train
    assumptions = measure_structures(train, problem, find_structures(frame, problem, request))
    return apply_choice(problem, assumptions), {entry["kind"]: entry for entry in assumptions}


def error_of(
    frame: pd.DataFrame, target: str, train: np.ndarray, test: np.ndarray, hidden: list[str], keys: list[str]
) -> float:
    """Root mean square error on `test` of another model, which sees the mean target of the same `keys`."""
    if keys:
        codes = frame.groupby(keys).ngroup()
        means = frame[target].iloc[train].groupby(codes.iloc[train]).mean()
        frame = frame.assign(level=codes.map(means))
    inputs = frame.drop(columns=[target, *hidden]).apply(
        lambda column: column if pd.api.types.is_numeric_dtype(column) else pd.factorize(column)[0]
    )
    model = HistGradientBoostingRegressor(random_state=0).fit(inputs.iloc[train], frame[target].iloc[train])
    wrong = model.predict(inputs.iloc[test]) - frame[target].iloc[test]
    return float(np.sqrt((wrong**2).mean()))


def assert_right(assumption: AssumptionJson, side: str, truth: float) -> None:
    bounds: Any = assumption["holds_interval" if side == "holds" else "otherwise_interval"]
    assert bounds["low"] * (1 - TOLERANCE) <= truth <= bounds["high"] * (1 + TOLERANCE)


def check_entities(frame: pd.DataFrame, target: str, columns: list[str], keys: list[str]) -> None:
    problem, assumptions = measure(frame, target)
    entities = assumptions["entities"]
    assert entities["columns"] == columns
    assert (entities["chosen"], entities["matters"]) == ("otherwise", True)
    assert problem.group_columns == tuple(columns)
    random = train_test_split(np.arange(len(frame)), test_size=0.3, random_state=0)
    assert_right(entities, "holds", error_of(frame, target, *random, [], keys))
    groups = frame.groupby(columns).ngroup()
    grouped = next(GroupShuffleSplit(1, test_size=0.3, random_state=0).split(frame, groups=groups))
    assert_right(entities, "otherwise", error_of(frame, target, *grouped, columns[:1], []))


def test_entities_of_one_column_are_measured_and_kept_on_one_side() -> None:
    check_entities(ratings(), "rating", ["user_id"], ["user_id"])


def test_persons_are_entities_by_the_name_of_their_column() -> None:
    frame = ratings().rename(columns={"user_id": "artist"})
    frame["artist"] = frame["artist"].map(lambda number: f"artist {number}")
    check_entities(frame, "rating", ["artist"], ["artist"])


def test_entities_of_a_name_and_a_year_are_measured_and_kept_on_one_side() -> None:
    frame = tracks()
    check_entities(frame, "wind", ["name", "year"], [])
    problem, assumptions = measure(frame, "wind")
    assert not assumptions["time"]["matters"]
    locked = split_holdout(frame, problem, seed=0)
    assert locked.kind is SplitKind.GROUPED
    keys = ["name", "year"]
    assert locked.train[keys].drop_duplicates().merge(locked.holdout[keys].drop_duplicates()).empty


def test_entities_of_two_columns_are_found_without_the_words_for_them() -> None:
    frame = tracks().rename(columns={"name": "c1", "year": "c2"})
    frame["c2"] -= frame["c2"].min() - 1
    check_entities(frame, "wind", ["c1", "c2"], [])


def test_a_file_sorted_by_two_categories_has_no_entities_of_two_columns() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "c1": rng.integers(0, 12, 2_000),
            "c2": rng.integers(0, 9, 2_000),
            "c3": rng.integers(0, 40, 2_000),
            "amount": rng.normal(size=2_000),
        }
    ).sort_values(["c2", "c1", "c3"], ignore_index=True)
    columns = [structure.columns for structure in find_entities(frame, "amount")]
    assert not [pair for pair in columns if len(pair) > 1]


def test_a_file_sorted_by_year_is_split_in_time_with_both_figures() -> None:
    frame = incomes()
    problem, assumptions = measure(frame, "income")
    order = assumptions["time"]
    assert (order["column"], order["chosen"], order["matters"]) == ("year", "otherwise", True)
    assert problem.time_column == "year"
    assert split_holdout(frame, problem, seed=0).holdout["year"].min() >= 2010
    rows = np.arange(len(frame))
    assert_right(order, "holds", error_of(frame, "income", *train_test_split(rows, random_state=0), [], []))
    assert_right(order, "otherwise", error_of(frame, "income", rows[:2000], rows[2000:], [], []))


def test_new_entities_that_cost_more_than_later_times_decide_the_split() -> None:
    frame = panel()
    problem, assumptions = measure(frame, "life")
    entities, order = assumptions["entities"], assumptions["time"]
    assert (entities["matters"], order["matters"]) == (True, True)
    assert (entities["chosen"], order["chosen"]) == ("otherwise", "holds")
    assert (problem.group_column, problem.time_column) == ("country", None)


def test_later_rows_of_a_panel_are_those_of_known_entities() -> None:
    frame = panel()
    _, assumptions = measure(frame, "life")
    later = np.flatnonzero(frame["year"] > frame["year"].quantile(2 / 3))
    earlier = np.setdiff1d(np.arange(len(frame)), later)
    assert_right(assumptions["time"], "otherwise", error_of(frame, "life", earlier, later, [], ["country"]))
    assert (assumptions["time"]["otherwise_score"] or 9e9) < (assumptions["entities"]["otherwise_score"] or 0)


def test_entities_are_known_later_only_where_they_come_again() -> None:
    again = pd.DataFrame({"shop": list("abcabcabcabc"), "year": np.repeat([2020, 2021, 2022, 2023], 3)})
    once = pd.DataFrame({"storm": list("aabbccddee"), "year": np.repeat([2019, 2020, 2021, 2022, 2023], 2)})
    assert share_known_later(again, "year", ["shop"]) == 1
    assert share_known_later(once, "year", ["storm"]) == 0
    assert np.isnan(share_known_later(again.assign(year=2020), "year", ["shop"]))


def test_entities_without_an_effect_leave_the_split_at_random() -> None:
    frame = ratings(users=120, length=25)
    rng = np.random.default_rng(1)
    frame["rating"] = frame["price"] + 0.1 * rng.normal(size=len(frame))
    problem, assumptions = measure(frame, "rating")
    assert not assumptions["entities"]["matters"]
    assert problem.group_column is None


@pytest.mark.parametrize("goal", ["predict ratings of new users", "predict ratings of our known users"])
def test_a_goal_that_says_which_entities_are_meant_leaves_nothing_open(goal: str) -> None:
    frame = ratings()
    request = {"target": "rating", "goal": goal}
    assert find_structures(frame, resolve_problem(frame, request), request).entities == []


def test_a_year_that_is_predicted_tells_no_entities_apart() -> None:
    frame = tracks()
    request = {"target": "year"}
    entities = find_structures(frame, resolve_problem(frame, request), request).entities
    assert all("year" not in entity.columns for entity in entities)


def test_plain_tables_have_no_structure() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 600), "town": rng.choice(list("abcdef"), 600)})
    frame["visits"] = rng.poisson(40, 600)
    frame["y"] = rng.normal(size=600)
    request = {"target": "y"}
    structures = find_structures(frame, resolve_problem(frame, request), request)
    assert (structures.entities, structures.order) == ([], None)


@pytest.mark.parametrize("name", ["ordered_date", "opened"])
def test_drift_is_found_in_a_shuffled_file_by_its_only_date(name: str) -> None:
    rng = np.random.default_rng(0)
    days = pd.Series(rng.integers(0, 1500, 2500))
    effect = rng.normal(size=2500)
    # What the input does to the outcome turns round in the last third: an old model is worse than none.
    risk = effect * np.where(days < 1000, 1, -1)
    frame = pd.DataFrame({name: pd.Timestamp("2019-01-01") + pd.to_timedelta(days, unit="D")})
    frame["effect"], frame["returned"] = effect, (rng.random(2500) < 1 / (1 + np.exp(-3 * risk))).astype(int)
    problem, assumptions = measure(frame, "returned")
    order = assumptions["time"]
    assert (order["column"], order["chosen"], order["matters"]) == (name, "otherwise", True)
    assert (order["holds_score"] or 0) > 0.75 > 0.6 > (order["otherwise_score"] or 1)
    locked = split_holdout(frame, problem, seed=0)
    assert locked.train[name].max() <= locked.holdout[name].min()


@pytest.mark.parametrize("rise", [0.0, 2.0])
def test_drift_over_four_years_is_measured_by_the_rows_of_the_last_ones(rise: float) -> None:
    rng = np.random.default_rng(2)
    year, size = rng.integers(2016, 2020, 3000), rng.normal(size=3000)
    frame = pd.DataFrame(
        {"year": year, "size": size, "weight": size + rise * (year - 2016) + rng.normal(size=3000)}
    )
    problem, assumptions = measure(frame, "weight")
    order = assumptions["time"]
    assert (order["column"], order["matters"]) == ("year", bool(rise))
    assert problem.time_column == ("year" if rise else None)
    if rise:
        is_late = year >= 2018
        late = error_of(frame, "weight", np.flatnonzero(~is_late), np.flatnonzero(is_late), [], [])
        assert_right(order, "otherwise", late)


def test_a_change_that_goes_on_steadily_is_followed_by_models_that_see_the_time() -> None:
    rng = np.random.default_rng(0)
    days, effect = pd.Series(rng.integers(0, 1500, 2500)), rng.normal(size=2500)
    risk = effect * np.cos(np.pi * days / 1500)
    frame = pd.DataFrame({"opened": pd.Timestamp("2019-01-01") + pd.to_timedelta(days, unit="D")})
    frame["effect"], frame["returned"] = effect, (rng.random(2500) < 1 / (1 + np.exp(-3 * risk))).astype(int)
    problem, assumptions = measure(frame, "returned")
    order = assumptions["time"]
    assert (order["otherwise_score"] or 0) > 0.75
    assert (order["matters"], problem.time_column) == (False, None)


def test_a_date_without_an_effect_leaves_the_split_at_random() -> None:
    frame = ratings(users=400, length=3).drop(columns="user_id")
    days = np.random.default_rng(5).integers(0, 900, len(frame))
    frame["rated_date"] = pd.Timestamp("2021-01-01") + pd.to_timedelta(days, unit="D")
    problem, assumptions = measure(frame, "rating")
    assert not assumptions["time"]["matters"]
    assert problem.time_column is None


def test_without_time_to_measure_the_layout_of_the_file_decides_and_a_note_says_so() -> None:
    frame, request = incomes(rows=600), {"target": "income"}
    problem = resolve_problem(frame, request)
    train = split_holdout(frame, problem, seed=0).train
    unmeasured = measure_assumptions(train, frame, problem, request, deadline=Deadline(0.0))
    assert unmeasured.assumptions == []
    assert unmeasured.problem.time_column == "year"
    assert len(unmeasured.notes) == 1
    assert "'year'" in unmeasured.notes[0]


def test_the_order_that_a_split_respects_is_measured_before_entities() -> None:
    frame = ratings(users=120, length=10).sample(frac=1, random_state=0, ignore_index=True)
    frame["rated_date"] = pd.Timestamp("2021-01-01") + pd.to_timedelta(np.arange(len(frame)), unit="h")
    request = {"target": "rating"}
    problem = replace(resolve_problem(frame, request), time_column="rated_date", group_column=None)
    structures = find_structures(frame, problem, request)
    assert structures.entities
    measured = measure_structures(frame, problem, structures)
    assert [entry["kind"] for entry in measured][:2] == ["time", "entities"]
    assert [entry["chosen"] for entry in measured][:2] == ["otherwise", "holds"]
    without_order = measure_structures(frame, problem, replace(structures, order=None))
    assert {entry["chosen"] for entry in without_order} == {"holds"}
    assert apply_choice(problem, without_order).time_column == "rated_date"
