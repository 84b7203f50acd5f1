"""Identifiers that grow with time: what later codes would score is a condition."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.analysis.assumptions.code_order import find_code, number_codes
from app.modeling.analysis.assumptions.split_choice import apply_choice, find_structures, measure_structures
from app.modeling.problem_definition.resolve_problem import resolve_problem

ROWS = 1200


def orders(has_trend: bool, codes: list[str] | list[int], name: str = "code") -> pd.DataFrame:
    """Rows in the order of time, shuffled; prices rise with it or do not."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=ROWS)
    price = 2 * size + rng.normal(size=ROWS) + (np.linspace(0, 6, ROWS) if has_trend else 0)
    frame = pd.DataFrame({name: codes, "size": size, "weight": rng.normal(size=ROWS), "price": price})
    return frame.sample(frac=1, random_state=1).reset_index(drop=True)


DATED = [f"C-{2019 + position // 300}-{position % 300:05d}" for position in range(ROWS)]
COUNTED = [40_000 + 3 * position for position in range(ROWS)]


@pytest.mark.parametrize(
    ("has_trend", "codes", "name", "options"),
    [
        (True, DATED, "code", {"holds"}),
        (False, DATED, "code", None),
        (False, COUNTED, "order_id", None),
    ],
)
def test_later_codes_are_a_condition_where_rows_change_with_them(has_trend, codes, name, options) -> None:
    frame = orders(has_trend, codes, name)
    problem = resolve_problem(frame, {"target": "price"})
    structures = find_structures(frame, problem, {})
    assert (structures.order, structures.code) == (None, name)
    conditions = measure_structures(frame, problem, structures)
    if options is None:
        assert conditions == []
        return
    (condition,) = conditions
    assert (condition["kind"], condition["columns"], condition["chosen"]) == ("time", [name], "holds")
    assert set(condition["options"]) == options  # a text orders no split, so there is no other side to choose
    assert (condition["otherwise_score"] or 0) > 1.3 * (condition["holds_score"] or 0)
    assert apply_choice(problem, conditions) == problem


def test_codes_are_ordered_by_their_numbers_from_left_to_right() -> None:
    codes = pd.Series([*(f"B-20-{number}" for number in range(9, 120)), "A-19-500", "A-21-3", "unknown"])
    order = number_codes(codes)
    assert order is not None
    assert order.iloc[:111].is_monotonic_increasing
    assert (order.iloc[111], order.iloc[112], np.isnan(order.iloc[113])) == (1.0, 113.0, True)
    assert number_codes(pd.Series(["north", "south"] * 50)) is None


def test_numbers_of_rows_in_the_order_of_the_file_are_no_codes() -> None:
    frame = orders(True, list(range(ROWS)), "id").sort_values("id")
    assert find_code(frame, "price") is None
    assert find_code(frame.sample(frac=1, random_state=0), "price") == "id"
