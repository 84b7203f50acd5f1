"""Unusual rows of made tables, of which it is known which rows do not fit."""

import numpy as np
import pandas as pd
import pytest

from app.errors import InvalidInput
from app.modeling.analysis.row_structure.unusual_rows import MIN_LISTED, find_unusual_rows

ROWS = 240
PLANTED = (17, 90, 203)


def make_flats(seed: int, planted: tuple[int, ...] = PLANTED) -> pd.DataFrame:
    """Flats whose price goes by size and town; the planted ones cost a fifth, and lie within all prices."""
    random = np.random.default_rng(seed)
    size = random.uniform(30, 200, ROWS)
    town = random.choice(["Ulm", "Kiel"], ROWS)
    price = 3_000 * size * np.where(town == "Kiel", 1.5, 1.0) * np.exp(random.normal(0, 0.08, ROWS))
    price[list(planted)] /= 5
    heating = np.where(size > 110, "district", "gas")
    return pd.DataFrame(
        {"flat": [f"F{n}" for n in range(ROWS)], "size": size, "town": town, "price": price, "heating": heating}
    )


def test_rows_that_do_not_fit_are_found_with_what_was_expected() -> None:
    flats = make_flats(seed=3)
    found = find_unusual_rows(flats)
    unusual = {row.position: row for row in found.rows if row.is_unusual}
    assert set(unusual) == set(PLANTED)
    value = unusual[PLANTED[0]].values[0]
    assert value.column == "price"
    # Five times the price that is there, and the range of usual prices holds that and not the price.
    assert value.expected == pytest.approx(5 * value.value, rel=0.25)
    assert value.low is not None
    assert value.high is not None
    assert value.value < value.low < 5 * value.value < value.high
    assert "flat" not in found.columns


def test_hardly_a_row_of_tables_without_unusual_rows_is_called_so() -> None:
    assert sum(find_unusual_rows(make_flats(seed, planted=())).count for seed in range(4)) <= 1


def test_without_unusual_rows_those_that_fit_least_are_listed() -> None:
    found = find_unusual_rows(make_flats(seed=0, planted=()))
    assert len(found.rows) == max(found.count, MIN_LISTED)
    assert not any(row.is_unusual for row in found.rows[found.count :])


@pytest.mark.parametrize(("side", "expected"), [("low", set(PLANTED)), ("high", set())])
def test_one_column_is_judged_on_the_side_that_is_asked_for(side, expected) -> None:
    found = find_unusual_rows(make_flats(seed=3), "price", side)
    assert {row.position for row in found.rows if row.is_unusual} == expected
    assert list(found.columns) == ["price"]


def test_a_level_is_unusual_where_the_other_columns_lead_to_another_one() -> None:
    flats = make_flats(seed=5, planted=())
    small = int(np.flatnonzero(flats["size"] < 60)[0])
    flats.loc[small, "heating"] = "district"
    found = find_unusual_rows(flats, "heating")
    first = found.rows[0]
    assert (first.position, first.is_unusual) == (small, True)
    assert (first.values[0].value, first.values[0].expected) == ("district", "gas")


def test_columns_for_which_there_is_no_time_are_named() -> None:
    found = find_unusual_rows(make_flats(seed=3), is_late=lambda: True)
    assert len(found.columns) == 1
    assert set(found.left_out) == {"town", "price", "heating"}


@pytest.mark.parametrize(
    ("frame", "column", "code"),
    [
        (make_flats(1).head(12), None, "too_few_rows"),
        (make_flats(1)[["flat", "size"]], None, "too_few_columns"),
        (make_flats(1), "flat", "not_comparable"),
    ],
)
def test_tables_that_tell_nothing_are_refused_by_what_they_lack(frame, column, code) -> None:
    with pytest.raises(InvalidInput) as refused:
        find_unusual_rows(frame, column)
    assert refused.value.code == code
