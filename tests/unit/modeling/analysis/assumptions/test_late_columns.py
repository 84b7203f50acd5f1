"""Planted leaks have both figures; a column is left out only for identity, for time or on request."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.analysis.exploration import explore
from app.modeling.problem_definition.resolve_problem import resolve_problem

from .planted import auc_of_risk, customers, is_inside, measure_known_columns


def test_a_code_after_the_outcome_is_kept_with_both_figures() -> None:
    frame = customers()
    rng = np.random.default_rng(1)
    frame["severity"] = np.where(frame["left"] == 1, 4, rng.integers(1, 4, len(frame)))
    frame.loc[rng.random(len(frame)) < 0.02, "severity"] = 2
    [code] = measure_known_columns(frame, "left").values()
    assert (code["column"], code["chosen"], code["matters"]) == ("severity", "holds", True)
    assert is_inside(code, "holds", 0.99)
    assert is_inside(code, "otherwise", auc_of_risk(frame))


def test_a_copy_is_left_out_with_a_figure_for_what_it_would_bring() -> None:
    frame = customers()
    frame["status"] = np.where(frame["left"] == 1, "gone", "here")
    copy = measure_known_columns(frame, "left")["status"]
    assert copy["chosen"] == "otherwise"
    assert is_inside(copy, "holds", 1.0)
    assert is_inside(copy, "otherwise", auc_of_risk(frame))


def test_a_target_in_steps_is_kept_with_both_figures() -> None:
    rng = np.random.default_rng(1)
    area, noise = rng.normal(size=(2, 2000))
    price = np.exp(4 + 0.8 * area + 0.6 * noise)
    bands = np.digitize(price, [20, 40, 80, 160])
    frame = pd.DataFrame({"area": area, "band": np.array(list("ABCDE"))[bands], "price": price})
    band = measure_known_columns(frame, "price")["band"]
    assert band["chosen"] == "holds"
    assert band["interval"]["low"] > 0
    assert "ranges of the target" in band["why"]


@pytest.mark.parametrize("is_adapted", [True, False])
def test_a_column_that_is_only_named_like_the_outcome_is_measured(is_adapted: bool) -> None:
    """A dose that was adapted to what it is to predict has both figures and is kept; others have none."""
    rng = np.random.default_rng(2)
    before, noise = rng.normal(size=(2, 2000))
    frame = pd.DataFrame({"before": before, "pressure": 2 * before + 1.5 * noise})
    source = frame["pressure"] if is_adapted else before
    frame["dose_final"] = source + 1.5 * rng.normal(size=2000)
    measured = measure_known_columns(frame, "pressure")
    assert list(measured) == ["dose_final"] * is_adapted
    for condition in measured.values():
        assert (condition["chosen"], condition["matters"]) == ("holds", True)
        assert is_inside(condition, "otherwise", 1.5, slack=0.15)
        assert "The name (final)" in condition["why"]


def test_two_leaks_do_not_hide_each_other() -> None:
    rng = np.random.default_rng(0)
    income, debt = rng.normal(size=2000), rng.normal(size=2000)
    rate = income - debt + 2 * rng.normal(size=2000)
    frame = pd.DataFrame({"income": income, "debt": debt, "rate": rate})
    frame["grade"] = np.floor(rate * 3)
    frame["subgrade"] = np.floor(rate * 12)
    [pair] = measure_known_columns(frame, "rate").values()
    assert set(pair["columns"]) == {"grade", "subgrade"}
    assert (pair["chosen"], pair["matters"]) == ("holds", True)
    assert is_inside(pair, "otherwise", 2.0, slack=0.15)


def test_an_average_over_later_rows_is_left_out_with_both_figures() -> None:
    rng = np.random.default_rng(0)
    driver = rng.normal(size=1500)
    frame = pd.DataFrame({"day": pd.date_range("2015-01-01", periods=1500), "driver": driver})
    frame["sales"] = 10 + driver + rng.normal(size=1500)
    frame["past_week"] = frame["sales"].shift(1).rolling(7).mean()
    frame["this_week"] = frame["sales"].rolling(7, center=True, min_periods=1).mean()
    assumptions = measure_known_columns(frame, "sales")
    assert set(assumptions) == {"this_week"}
    assert assumptions["this_week"]["chosen"] == "otherwise"
    assert is_inside(assumptions["this_week"], "otherwise", 1.0, slack=0.1)


def test_measurements_that_some_classes_lack_are_kept_with_a_figure() -> None:
    rng = np.random.default_rng(0)
    species = rng.integers(0, 12, 2400)
    frame = pd.DataFrame({"mass": species % 4 + 0.5 * rng.normal(size=2400)})
    for name, modulus in (("wing", 3), ("beak", 2)):
        measurement = species // modulus + 0.4 * rng.normal(size=2400)
        frame[name] = np.where(species < 7, measurement, np.nan)
    frame["species"] = [f"species {number}" for number in species]
    assumptions = measure_known_columns(frame, "species")
    assert {entry["chosen"] for entry in assumptions.values()} == {"holds"}
    assert {"wing", "beak"} <= {name for entry in assumptions.values() for name in entry["columns"]}
    assert all(entry["otherwise_score"] is not None for entry in assumptions.values())


def test_a_value_that_only_one_outcome_has_is_left_out_as_written_after_it() -> None:
    frame = customers()
    reason = pd.Series(np.random.default_rng(0).choice(["price", "service"], len(frame)))
    frame["goodbye"] = reason.where(frame["left"] == 1)
    written = measure_known_columns(frame, "left")["goodbye"]
    assert written["chosen"] == "otherwise"
    assert is_inside(written, "otherwise", auc_of_risk(frame))


def test_an_identifier_that_carries_information_stays_an_input() -> None:
    rng = np.random.default_rng(0)
    frame = customers()
    places = np.where(rng.random(len(frame)) < 0.9, frame["left"], 1 - frame["left"])
    frame["account_id"] = places * 500_000 + rng.permutation(len(frame)) * 7 + 100_000
    [identifier] = measure_known_columns(frame, "left").values()
    assert (identifier["column"], identifier["chosen"], identifier["matters"]) == ("account_id", "holds", True)


@pytest.mark.parametrize("carries", [True, False])
def test_an_identifier_that_predicts_little_alone_is_measured(carries: bool) -> None:
    rng = np.random.default_rng(0)
    age, size = rng.uniform(size=1200), rng.normal(size=1200)
    price = 2 * age + size + 0.5 * rng.normal(size=1200)
    rank = age if carries else rng.uniform(size=1200)
    frame = pd.DataFrame({"lot_id": (90_000 * rank.argsort().argsort() / 1200).astype(int), "size": size})
    frame["price"] = price
    facts = explore(frame, resolve_problem(frame, {"target": "price"}), [])
    [identifier] = facts["assumptions"]
    assert (identifier["column"], identifier["chosen"]) == ("lot_id", "holds" if carries else "otherwise")
    assert is_inside(identifier, "otherwise", float(np.hypot(0.5, 2 / np.sqrt(12))), slack=0.05)
    dropped = {name for step in facts["suggested_cleaning"] if step["op"] == "drop" for name in step["columns"]}
    assert ("lot_id" in dropped) is not carries


def test_columns_that_the_user_left_out_have_a_figure() -> None:
    frame = customers()
    excluded = measure_known_columns(frame, "left", exclude=["risk"])["risk"]
    assert excluded["chosen"] == "otherwise"
    assert is_inside(excluded, "holds", auc_of_risk(frame))
    assert is_inside(excluded, "otherwise", 0.5, slack=0.03)


def test_an_ordinary_table_has_no_doubted_column() -> None:
    assert measure_known_columns(customers(), "left") == {}
