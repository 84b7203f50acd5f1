"""Planted leaks are found, each with its kind; clean tables raise no alarm."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from app.modeling.analysis.leakage.leaking_columns import find_leaks
from app.modeling.analysis.leakage.row_numbers import looks_like_row_number
from app.modeling.analysis.univariate import score_columns

from ...frames import houses, people, problem, series


def kinds_of(frame: pd.DataFrame, target: str, **wish: object) -> dict[str, tuple[str, bool]]:
    asked = problem(frame, target, **wish)
    found = find_leaks(frame, asked, score_columns(frame, asked))
    return {leak["column"]: (leak["kind"], leak["certain"]) for leak in found}


def test_another_coding_of_the_target_is_a_certain_leak() -> None:
    frame = people()
    frame["status"] = np.where(frame["left"] == 1, "gone", "here")
    assert kinds_of(frame, "left") == {"status": ("near_copy", True)}


def test_the_target_in_another_unit_is_certainly_a_leak() -> None:
    frame = houses()
    frame["price_cents"] = frame["price"] * 100 + 3
    assert kinds_of(frame, "price") == {"price_cents": ("near_copy", True)}


def test_a_column_that_is_filled_in_for_one_outcome_is_named() -> None:
    frame = people()
    frame["reason"] = pd.Series(["price", "service"] * 150).where(frame["left"] == 1)
    assert kinds_of(frame, "left") == {"reason": ("fills_for_one_outcome", True)}


def test_a_nearly_perfect_column_is_reported() -> None:
    frame = people(600, noise=2)
    rng = np.random.default_rng(1)
    frame["days_since_last_login"] = 40 * frame["left"] + rng.normal(size=600) * 6
    assert kinds_of(frame, "left") == {"days_since_last_login": ("nearly_perfect", False)}


def test_a_row_number_of_a_sorted_file_is_certainly_a_leak() -> None:
    frame = people().sort_values("left", ignore_index=True)
    frame.insert(0, "id", range(1000, 1000 + len(frame)))
    assert kinds_of(frame, "left") == {"id": ("row_order", True)}


def test_two_nearly_perfect_columns_do_not_hide_each_other() -> None:
    frame = people(600, noise=3)
    rng = np.random.default_rng(1)
    frame["last_login"] = 40 * frame["left"] + rng.normal(size=600) * 4
    frame["open_tickets"] = 9 * frame["left"] + rng.normal(size=600)
    assert set(kinds_of(frame, "left")) == {"last_login", "open_tickets"}


def test_a_suspicious_name_lowers_the_score_needed_for_a_leak() -> None:
    frame = people(600, noise=3)
    rng = np.random.default_rng(1)
    frame["refund_total"] = 4.3 * frame["left"] + rng.normal(size=600) * 1.5
    assert kinds_of(frame, "left") == {"refund_total": ("after_outcome", False)}
    honest = frame.rename(columns={"refund_total": "pulse"})
    assert kinds_of(honest, "left") == {}
    frame["refund_total"] = rng.normal(size=600)
    assert kinds_of(frame, "left") == {}


def test_identifiers_given_in_the_order_of_the_outcome_are_named_in_a_shuffled_file() -> None:
    frame = people().sort_values("left", ignore_index=True)
    frame.insert(0, "case_id", np.arange(300) * 7 + 12_000)
    assert kinds_of(frame.sample(frac=1, random_state=0), "left") == {"case_id": ("row_order", False)}


def test_a_target_in_free_text_is_named() -> None:
    frame = people(600)
    rng = np.random.default_rng(0)
    words = np.array(["called twice about the bill", "asked for a discount", "moved house", "praised support"])
    verdict = np.where(frame["left"] == 1, "and then churned", "and was kept")
    frame["note"] = [
        f"{words[a]} {v} ({n})" for a, v, n in zip(rng.integers(0, 4, 600), verdict, range(600), strict=True)
    ]
    assert kinds_of(frame, "left") == {"note": ("target_in_text", False)}
    priced = houses()
    priced["advert"] = [
        f"House of {a:.0f} sqm in {t}, yours for {p:,.2f}"
        for a, t, p in zip(priced["area"], priced["town"], priced["price"], strict=True)
    ]
    assert kinds_of(priced, "price") == {"advert": ("target_in_text", False)}


def test_parts_and_factors_that_make_up_the_target_are_named() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"casual": rng.poisson(40, 400), "registered": rng.poisson(150, 400) * 1.0})
    frame["temperature"] = rng.normal(size=400)
    frame["count"] = frame["casual"] + frame["registered"]
    frame["count"] += 0.0
    assert set(kinds_of(frame, "count")) == {"casual", "registered"}
    frame["rate"] = rng.uniform(5, 9, 400)
    frame["hours"] = rng.uniform(1, 90, 400)
    frame["bill"] = frame["rate"] * frame["hours"]
    assert set(kinds_of(frame.drop(columns="count"), "bill")) == {"rate", "hours"}


def test_a_column_that_is_filled_in_for_large_amounts_only_is_named() -> None:
    frame = houses()
    late = frame["price"] > 300_000
    frame["price"] = frame["price"] + late * 900_000
    frame["commission"] = pd.Series(np.random.default_rng(0).normal(size=300)).where(late)
    assert kinds_of(frame, "price")["commission"][0] == "fills_for_one_outcome"


def strong(rows: int = 500) -> pd.DataFrame:
    """One honest column that is worth far more than all others."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(rows, 5)), columns=list("abcde"))
    return frame.assign(y=(frame["a"] + 0.35 * rng.normal(size=rows) > 0).astype(int))


def prices(rows: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    opened = 100 + rng.normal(size=rows).cumsum()
    frame = pd.DataFrame({"open": opened, "high": opened + rng.gamma(2, 0.2, rows)})
    return frame.assign(low=opened - rng.gamma(2, 0.2, rows), close=opened + rng.normal(size=rows) * 0.3)


def reviews(rows: int = 500) -> pd.DataFrame:
    """Honest text: some words come more often with one class."""
    rng = np.random.default_rng(0)
    good = rng.random(rows) < 0.5
    words = np.where(
        good[:, None],
        *[
            rng.choice(w, (rows, 6))
            for w in (["fine", "great", "ok", "bad", "day"], ["poor", "bad", "ok", "great", "day"])
        ],
    )
    return pd.DataFrame(
        {"text": [" ".join(row) + f" {place}" for place, row in enumerate(words)], "good": good}
    )


CLEAN = {
    "one strong column": lambda: (strong(), "y"),
    "honest words": lambda: (reviews(), "good"),
    "a noisy sum": lambda: (strong().assign(z=lambda f: f["a"] + f["b"] + 0.1 * f["c"] ** 2), "z"),
    "a linear rule with noise": lambda: (houses(), "price"),
    "iris": lambda: (load_iris(as_frame=True).frame, "target"),
    "wine": lambda: (load_wine(as_frame=True).frame, "target"),
    "breast cancer": lambda: (load_breast_cancer(as_frame=True).frame, "target"),
    "diabetes": lambda: (load_diabetes(as_frame=True).frame, "target"),
    "people": lambda: (people(), "left"),
    "easy people": lambda: (people(noise=0.1), "left"),
    "houses": lambda: (houses(), "price"),
    "shuffled ids": lambda: (people().assign(id=np.random.default_rng(0).permutation(300)), "left"),
    "sorted ids": lambda: (people().assign(id=range(300)), "left"),
    "gaps at random": lambda: (people().assign(x=pd.Series([1.0, None, None] * 100)), "left"),
}


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_table_raises_no_alarm(name: str) -> None:
    frame, target = CLEAN[name]()
    assert kinds_of(frame, target) == {}


def test_a_forecast_may_use_the_present() -> None:
    assert kinds_of(series(), "sales", horizon=1, time_column="day") == {}


@pytest.mark.parametrize(
    ("values", "is_one"),
    [
        (range(100), True),
        (range(500, 400, -1), True),
        (np.random.default_rng(0).permutation(100), False),
        (np.arange(100) * 1000, False),
        (np.arange(100) / 7, False),
        (np.repeat(range(50), 2), False),
    ],
)
def test_a_row_number_is_distinguished_from_a_measure(values: object, is_one: bool) -> None:
    assert looks_like_row_number(pd.Series(list(values), name="n")) is is_one  # type: ignore[call-overload]


def test_a_year_is_no_row_number() -> None:
    assert not looks_like_row_number(pd.Series(range(1900, 2000), name="year"))


def test_prices_of_one_day_are_uncertain_leaks() -> None:
    assert not any(certain for _, certain in kinds_of(prices(), "close").values())
