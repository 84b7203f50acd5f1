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
    runs = find_order(TESTS.assign(pan_day=range(len(TESTS))).rename(columns={"pan_day": "run_no"}), "level")
    assert runs
    assert (runs.columns, runs.is_strong) == (("run_no",), True)


def sites(rows_each: int = 20) -> pd.DataFrame:
    """Temperatures of 60 sites, which have no name."""
    site = np.repeat(np.arange(60), rows_each)
    altitude, latitude = RNG.uniform(0, 2000, 60).round(1), RNG.uniform(40, 60, 60).round(3)
    return pd.DataFrame(
        {
            "altitude": altitude[site],
            "latitude": latitude[site],
            "day": RNG.integers(1, 366, len(site)),
            "temperature": RNG.normal(size=len(site)),
        }
    )


def test_measurements_that_always_come_together_tell_entities_without_a_name() -> None:
    [site] = find_entities(sites(), "temperature")
    assert (site.columns, site.is_strong) == (("altitude",), True)
    assert site.evidence == "60 values with 20.0 rows each, within which 'latitude' never changes"
    [site] = find_entities(sites().sample(frac=1, random_state=0, ignore_index=True), "temperature")
    assert (site.columns, site.is_strong) == (("altitude",), False)


def test_a_measurement_in_another_unit_or_rounded_tells_no_entities() -> None:
    celsius = RNG.integers(-300, 300, 2000) / 10
    frame = pd.DataFrame({"celsius": celsius, "fahrenheit": celsius * 1.8 + 32, "whole": celsius.round()})
    assert find_entities(frame.assign(load=RNG.normal(size=2000)), "load") == []
    independent = RNG.integers(0, 60, (2000, 3))
    assert find_entities(pd.DataFrame(independent, columns=["age", "tenure", "visits"]), "visits") == []


def runners() -> pd.DataFrame:
    """Times of 300 runners, whom only both of their names tell apart."""
    names = RNG.permutation(30 * 40)[:300]
    runner = RNG.permutation(np.repeat(np.arange(300), 5))
    return pd.DataFrame(
        {
            "first_name": [f"Name{names[number] % 30}" for number in runner],
            "last_name": [f"Family{names[number] // 30}" for number in runner],
            "height": RNG.integers(150, 200, 300)[runner],
            "distance": RNG.choice([5, 10, 21], len(runner)),
            "minutes": RNG.normal(size=len(runner)),
        }
    )


def test_two_names_within_which_a_third_column_never_changes_are_entities() -> None:
    [runner] = find_entities(runners(), "minutes")
    assert runner.columns == ("first_name", "last_name")
    assert "300 pairs with 5.0 rows each, within which 'height' never changes" in runner.evidence
    other_heights = runners().assign(height=RNG.integers(150, 200, 1500))
    assert find_entities(other_heights, "minutes") == []


def test_two_texts_are_no_entity_where_one_of_them_determines_the_third_column() -> None:
    frame = runners()
    prices = dict(zip(frame["last_name"].unique(), RNG.integers(1, 99, 40), strict=False))
    assert find_entities(frame.assign(height=frame["last_name"].map(prices)), "minutes") == []
