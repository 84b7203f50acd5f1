"""Planted leaks are found, each with its kind; clean tables raise no alarm."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from app.modeling.leaks import looks_like_row_number, screen
from app.modeling.relations import relations

from .frames import houses, people, problem, series


def kinds_of(frame: pd.DataFrame, target: str, **wish: object) -> dict[str, tuple[str, bool]]:
    asked = problem(frame, target, **wish)
    found = screen(frame, asked, relations(frame, asked))
    return {leak["column"]: (leak["kind"], leak["certain"]) for leak in found}


def test_the_target_in_other_words_is_certainly_a_leak() -> None:
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


def test_a_column_that_alone_nearly_knows_the_answer_is_named() -> None:
    frame = people(600, noise=2)
    rng = np.random.default_rng(1)
    frame["days_since_last_login"] = 40 * frame["left"] + rng.normal(size=600) * 6
    assert kinds_of(frame, "left") == {"days_since_last_login": ("nearly_perfect", False)}


def test_a_row_number_of_a_sorted_file_is_certainly_a_leak() -> None:
    frame = people().sort_values("left", ignore_index=True)
    frame.insert(0, "id", range(1000, 1000 + len(frame)))
    assert kinds_of(frame, "left") == {"id": ("row_order", True)}


CLEAN = {
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
def test_a_row_number_is_told_from_a_measure(values: object, is_one: bool) -> None:
    assert looks_like_row_number(pd.Series(list(values), name="n")) is is_one  # type: ignore[call-overload]


def test_a_year_is_no_row_number() -> None:
    assert not looks_like_row_number(pd.Series(range(1900, 2000), name="year"))
