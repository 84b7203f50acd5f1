"""Equal rows: the score with them on both sides of a split, and on one side."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.analysis.assumptions.equal_rows import measure_equal_rows
from app.modeling.problem_definition.resolve_problem import resolve_problem
from app.modeling.splits.near_copies import find_near_copies
from app.modeling.splits.split import split_holdout


def measurements(rows: int = 800) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    length, width = rng.normal(size=rows), rng.normal(size=rows)
    return pd.DataFrame({"length": length, "width": width, "weight": length + 2 * rng.normal(size=rows)})


def test_rows_that_were_copied_have_both_figures() -> None:
    frame = pd.concat([measurements()] * 3, ignore_index=True).sample(frac=1, random_state=0, ignore_index=True)
    assumption = measure_equal_rows(frame, resolve_problem(frame, {"target": "weight"}))
    assert assumption is not None
    assert (assumption["kind"], assumption["chosen"], assumption["matters"]) == (
        "equal_rows",
        "otherwise",
        True,
    )
    assert (assumption["holds_score"] or 9) < 1.8
    assert 1.9 < (assumption["otherwise_score"] or 0) < 2.6


def test_rows_that_coincide_are_no_condition() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"type": rng.choice(list("abcd"), 2000), "size": rng.integers(1, 9, 2000)})
    frame["score"] = rng.integers(60, 100, 2000)
    assert measure_equal_rows(frame, resolve_problem(frame, {"target": "score"})) is None


def test_rows_that_were_recorded_twice_with_other_noise_have_both_figures() -> None:
    """Two branches export the same customers: no name is common, and no number is quite the same."""
    rng = np.random.default_rng(0)
    customers = pd.DataFrame(rng.normal(size=(700, 4)), columns=["age", "income", "debt", "tenure"])
    response = customers["age"] + 2 * rng.normal(size=700)
    exports = [
        (customers + rng.normal(0, 0.005, customers.shape)).assign(branch=branch, response=response)
        for branch in ("north", "south")
    ]
    frame = pd.concat(exports).sample(frac=1, random_state=0, ignore_index=True)
    problem = resolve_problem(frame, {"target": "response"})
    assumption = measure_equal_rows(frame, problem)
    assert assumption is not None
    assert (assumption["chosen"], assumption["matters"]) == ("otherwise", True)
    assert "1,400 training rows nearly equal another one" in assumption["why"]
    assert (assumption["holds_score"] or 9) < 1.9
    assert 1.9 < (assumption["otherwise_score"] or 0) < 2.6
    locked = split_holdout(frame, problem, seed=0)
    assert not set(locked.train["response"]) & set(locked.holdout["response"])
    assert locked.together_rows == 1400
    assert 0.15 * len(frame) < len(locked.holdout) < 0.25 * len(frame)


@pytest.mark.parametrize("copies", [2, 5])
def test_rows_of_one_entity_that_nearly_equal_each_other_stay_together(copies: int) -> None:
    rng = np.random.default_rng(2)
    entity = np.repeat(np.arange(400), copies)
    numbers = rng.normal(size=(400, 6))[entity] + rng.normal(0, 0.02, (len(entity), 6))
    frame = pd.DataFrame(numbers, columns=[*"abcdef"]).assign(y=rng.normal(size=400)[entity])
    codes = find_near_copies(frame, resolve_problem(frame, {"target": "y"}))
    assert codes is not None
    assert (codes >= 0).mean() > 0.9
    # No group has rows of two entities.
    assert pd.Series(entity[codes >= 0]).groupby(codes[codes >= 0]).nunique().max() == 1


def test_a_path_of_neighbours_is_no_group_of_copies() -> None:
    rng = np.random.default_rng(2)
    begins = np.repeat(rng.normal(size=(300, 1, 6)), 6, axis=1)
    paths = begins + 0.03 * np.arange(6)[:, None] + rng.normal(0, 0.001, (300, 6, 6))
    frame = pd.DataFrame(paths.reshape(-1, 6), columns=[*"abcdef"]).assign(y=rng.normal(size=1800))
    assert find_near_copies(frame, resolve_problem(frame, {"target": "y"})) is None


@pytest.mark.parametrize("dimensions", [1, 2, 5])
def test_neighbours_are_no_copies(dimensions: int) -> None:
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(2000, dimensions)) @ rng.normal(size=(dimensions, 5))
    frame = pd.DataFrame(numbers, columns=[*"abcde"])
    frame["y"] = frame["a"] + rng.normal(size=2000)
    assert find_near_copies(frame, resolve_problem(frame, {"target": "y"})) is None
