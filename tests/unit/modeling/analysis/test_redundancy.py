"""Columns that say nothing new are found, each with its reason; columns that say something are not."""

import uuid
from dataclasses import replace

import numpy as np
import pandas as pd

from app.modeling.analysis.cleaning import suggest_cleaning
from app.modeling.analysis.redundancy import find_redundant

from ..frames import houses, people, problem, series


def planted(rows: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = people(rows).drop(columns="name")
    frame["uuid"] = [str(uuid.UUID(int=int(number))) for number in rng.integers(0, 2**62, rows)]
    frame["customer_id"] = rng.permutation(rows) * 7919 + 100_000
    frame["order"] = [f"ORD-{number:06d}" for number in rng.permutation(rows)]
    frame["always"] = "x"
    frame["age again"] = frame["age"]
    frame["plan_code"] = frame["plan"].map({"basic": "B", "plus": "P", "pro": "R"})
    return frame


def test_constants_identifiers_and_copies_are_found_with_the_copied_column() -> None:
    found = {one.column: (one.kind, one.of) for one in find_redundant(planted())}
    assert found == {
        "uuid": ("identifier", None),
        "customer_id": ("identifier", None),
        "order": ("identifier", None),
        "always": ("constant", None),
        "age again": ("copy", "age"),
        "plan_code": ("recoded", "plan"),
    }


def test_cleaning_drops_redundant_columns_except_protected_ones() -> None:
    frame = planted()
    asked = problem(frame, "left", group_column="customer_id")
    (drop, *_) = suggest_cleaning(frame, asked, keep=["always"])
    assert drop == {"op": "drop", "columns": ["uuid", "order", "age again", "plan_code"]}


def test_tables_without_such_columns_raise_no_alarm() -> None:
    rng = np.random.default_rng(0)
    joined = pd.Series(pd.date_range("2020-01-01", periods=300)).sample(frac=1, random_state=0)
    clean = pd.DataFrame(
        {
            "population": rng.permutation(10_000_000)[:300],
            "amount": rng.normal(size=300),
            "name": [f"Person {number} of Ulm" for number in rng.permutation(300)],
            "word": [chr(97 + n % 26) + chr(97 + n // 26) for n in range(300)],
            "day": pd.date_range("2024-01-01", periods=300),
            "joined": joined.dt.strftime("%Y-%m-%d").array,
        }
    )
    for frame in (clean, houses(), people(), series(shops=2)):
        assert find_redundant(frame) == []


def test_a_nearly_constant_column_is_reported_but_kept_if_it_may_be_informative() -> None:
    frame = pd.DataFrame({"fraud": [1] * 8 + [0] * 9992, "typo": [1] * 2 + [0] * 9998})
    found = {one.column: (one.kind, one.is_certain) for one in find_redundant(frame)}
    assert found == {"fraud": ("near_constant", False), "typo": ("near_constant", True)}


def test_a_multiple_is_a_copy_and_a_number_per_place_is_not() -> None:
    rng = np.random.default_rng(0)
    shop = rng.integers(1, 9, 300)
    size = np.array([0, 50, 20, 90, 10, 70, 30, 80, 60])[shop]
    frame = pd.DataFrame({"shop": shop, "size": size, "size_in_feet": size * 10.764})
    assert [(one.column, one.kind, one.of) for one in find_redundant(frame)] == [
        ("size_in_feet", "recoded", "size")
    ]


def test_in_time_order_a_number_that_follows_the_time_is_dropped() -> None:
    rng = np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=300)
    frame = pd.DataFrame(
        {
            "day": days,
            "fraction_of_year": 2024 + np.arange(300) / 366,
            "warmth": np.sin(np.arange(300) / 50) + 0.1 * rng.normal(size=300),
            "since_the_reform": np.arange(300) >= 200,
            "sold": rng.normal(size=300),
        }
    )
    in_order = problem(frame, "sold", time_column="day")
    dropped = [op["columns"] for op in suggest_cleaning(frame, in_order) if op["op"] == "drop"]
    assert dropped == [["fraction_of_year"]]
    without = replace(in_order, time_column=None)
    assert not [op for op in suggest_cleaning(frame, without) if op["op"] == "drop"]
