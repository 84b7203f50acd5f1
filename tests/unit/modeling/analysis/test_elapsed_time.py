"""Time becomes an input of models of later rows where it is measured to help, and stays hidden elsewhere."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.modeling.analysis.elapsed_time import suggest_elapsed_time
from app.modeling.problem_definition.resolve_problem import resolve_problem
from app.modeling.recipe.recipe import make_recipe


def harvests(rise: float, rows: int = 1_500) -> pd.DataFrame:
    """Yields of fields over 15 years, which rise by so much a year."""
    rng = np.random.default_rng(3)
    year, rain = np.sort(rng.integers(2000, 2015, rows)), rng.normal(size=rows)
    return pd.DataFrame(
        {"year": year, "rain": rain, "crop": rain + rise * (year - 2000) + rng.normal(size=rows)}
    )


def suggest(frame: pd.DataFrame, **wish: Any) -> list[dict[str, Any]]:
    return suggest_elapsed_time(frame, resolve_problem(frame, {"target": "crop", **wish}))


@pytest.mark.parametrize(("rise", "suggested"), [(1.0, [{"op": "elapsed", "column": "year"}]), (0.0, [])])
def test_time_is_an_input_where_later_rows_are_predicted_better_with_it(
    rise: float, suggested: list[dict[str, Any]]
) -> None:
    assert suggest(harvests(rise), time_column="year") == suggested


def test_dates_count_in_days() -> None:
    frame = harvests(1.0)
    frame["year"] = pd.to_datetime(frame["year"].astype("str") + "-03-01")
    problem = resolve_problem(frame, {"target": "crop", "time_column": "year"})
    recipe = make_recipe(problem, suggest_elapsed_time(frame, problem))
    features = recipe.fit_transform(frame.drop(columns="crop"))
    assert list(features) == ["rain", "year_elapsed"]
    later = recipe.transform(pd.DataFrame({"year": pd.to_datetime(["2020-02-29"]), "rain": [0.0]}))
    assert later["year_elapsed"].tolist() == [7304.0]


def test_without_an_order_in_time_nothing_is_suggested() -> None:
    assert suggest(harvests(1.0)) == []


def test_few_times_leave_it_hidden() -> None:
    frame = harvests(1.0)
    assert suggest(frame[frame["year"] < 2003].reset_index(drop=True), time_column="year") == []
