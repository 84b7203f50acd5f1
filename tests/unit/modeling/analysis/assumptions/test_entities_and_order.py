"""Which columns tell entities apart, and which one orders the rows."""

import numpy as np
import pandas as pd

from app.modeling.analysis.assumptions.entities_and_order import find_entities, find_order

RNG = np.random.default_rng(1)
FIRMS = pd.DataFrame(
    {
        "firm": np.repeat(np.arange(1, 101), 8),
        "year": np.tile(np.arange(1983, 1991), 100),
        "capital": RNG.normal(size=800),
        "output": RNG.normal(size=800),
    }
)
TESTS = pd.DataFrame(
    {
        "pan_day": np.sort(RNG.integers(4, 100, 900)),
        "age": RNG.integers(1, 90, 900),
        "level": RNG.random(900),
    }
)


def test_numbers_of_a_sorted_panel_are_entities() -> None:
    [firm] = find_entities(FIRMS, "output")
    assert (firm.columns, firm.is_strong) == (("firm",), True)
    assert "each with one row a `year`" in firm.evidence


def test_a_measure_by_which_a_file_is_sorted_is_no_entity() -> None:
    people = pd.DataFrame(
        {
            "age": np.sort(RNG.integers(18, 90, 800)),
            "year": RNG.integers(1983, 1991, 800),
            "income": RNG.normal(size=800),
        }
    )
    assert find_entities(people, "income") == []


def test_days_from_a_beginning_order_the_rows_of_a_file_that_is_sorted_by_them() -> None:
    order = find_order(TESTS, "level")
    assert order
    assert (order.columns, order.is_strong) == (("pan_day",), True)
    assert find_order(TESTS.sample(frac=1, random_state=0), "level") is None
    assert find_order(TESTS.rename(columns={"pan_day": "score"}), "level") is None
