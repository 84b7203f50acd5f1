"""Groups of columns: by the stems of their names with agreeing values, and by rank correlation."""

import numpy as np
import pandas as pd

from app.modeling.explanation.column_groups import ColumnGroup, group_columns


def make_rows(count: int = 500) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    size, kind = rng.normal(size=count), rng.integers(0, 3, count)
    return pd.DataFrame(
        {
            "weight": size,
            "power": rng.normal(size=count),
            "displacement": np.exp(-2 * size) + 0.05 * rng.normal(size=count),
            "kind_a": kind == 0,
            "kind_b": (kind == 1).astype(int),
            "kind_c": (kind == 2).astype(float),
            "is_new": rng.integers(0, 2, count),
            "is_red": rng.integers(0, 2, count),
            "is_big": rng.integers(0, 2, count),
            "sold_year": rng.integers(2000, 2020, count),
            "sold_month": rng.integers(1, 13, count),
            "sold_day": rng.integers(1, 29, count),
            "temp_lag1": rng.normal(size=count),
            "temp_lag_2": rng.normal(size=count),
            "city": rng.choice(["x", "y"], count),
        }
    )


def test_columns_that_carry_the_same_content_are_one_group() -> None:
    rows = make_rows()

    assert group_columns(rows, list(rows.columns)) == [
        ColumnGroup(("weight", "displacement"), "correlated"),
        ColumnGroup(("power",)),
        ColumnGroup(("kind_a", "kind_b", "kind_c"), "codes"),
        ColumnGroup(("is_new",)),
        ColumnGroup(("is_red",)),
        ColumnGroup(("is_big",)),
        ColumnGroup(("sold_year", "sold_month", "sold_day"), "date"),
        ColumnGroup(("temp_lag1", "temp_lag_2"), "lags"),
        ColumnGroup(("city",)),
    ]


def test_the_given_order_is_kept_and_each_column_is_in_one_group() -> None:
    rows = make_rows()
    columns = list(rows.columns)[::-1]
    groups = group_columns(rows, columns)

    assert sorted(name for group in groups for name in group.columns) == sorted(columns)
    assert [group.columns[0] for group in groups][:3] == ["city", "temp_lag_2", "sold_day"]
    assert ColumnGroup(("displacement", "weight"), "correlated") in groups


def test_a_chain_of_correlations_is_no_group() -> None:
    """Complete linkage: the ends of a chain are hardly correlated, so they are not one content."""
    rng = np.random.default_rng(1)
    steps = rng.normal(size=(2000, 8)).cumsum(axis=1)
    rows = pd.DataFrame(steps, columns=[f"walk{letter}" for letter in "abcdefgh"])

    assert max(len(group.columns) for group in group_columns(rows, list(rows.columns))) < 8


def test_missing_values_and_constants_form_no_group() -> None:
    rows = pd.DataFrame({"a": [np.nan] * 50, "b": [1.0] * 50, "c": np.arange(50.0)})

    assert [group.columns for group in group_columns(rows, ["a", "b", "c"])] == [("a",), ("b",), ("c",)]


def test_a_text_is_one_group_with_the_category_that_its_words_tell() -> None:
    rng = np.random.default_rng(0)
    count = 300
    sex = rng.choice(["female", "male"], count)
    title = np.where(sex == "male", "Mr", rng.choice(["Mrs", "Miss"], count))
    families = [f"F{place:03d}".translate(str.maketrans("0123456789", "abcdefghij")) for place in range(200)]
    rows = pd.DataFrame(
        {
            "name": [
                f"{family}, {word}" for family, word in zip(rng.choice(families, count), title, strict=True)
            ],
            "port": rng.choice(["east", "west"], count),
            "sex": sex,
            "ticket": [f"T-{place}" for place in range(count)],
        }
    )

    assert group_columns(rows, list(rows.columns)) == [
        ColumnGroup(("sex", "name"), "words"),
        ColumnGroup(("port",)),
        ColumnGroup(("ticket",)),
    ]
    assert [group.reason for group in group_columns(rows[:40], ["name", "sex"])] == ["single", "single"]
