"""Comparisons of forecasts: which of several series is first, and which periods lie on one side of a bound."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.problem.problem import Problem

MEETS = "meets_bound"
"""Column of forecasts that tells if the predicted value meets the bound."""
_SIGNS: Mapping[str, Callable[[Any, Any], Any]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def rank_answers(answers: Sequence[dict[str, Any]], ranking: str | None) -> list[dict[str, Any]]:
    """Sort one number of each series: the highest first for `most`, the lowest first for `least`."""
    if ranking is None:
        return [*answers]
    return sorted(answers, key=lambda answer: answer["value"], reverse=ranking == "most")


def compare_forecasts(
    forecasts: pd.DataFrame, problem: Problem, bound: Mapping[str, Any], skipped: int
) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """Compare each forecast with a bound (`sign`, `value`).

    Returns the forecasts with the column `MEETS`, and of each series the number of `periods` after the first
    `skipped`, of those whose forecast meets the bound (`met`), whose whole interval does (`certain`), and of
    whose interval no value does (`excluded`).
    """
    meets, value = _SIGNS[bound["sign"]], bound["value"]
    compared = forecasts.assign(**{MEETS: meets(forecasts["prediction"], value)})
    nearest, farthest = ("low", "high") if bound["sign"].startswith(">") else ("high", "low")
    is_bounded = "low" in forecasts
    group = problem.group_column
    parts = [(None, compared)] if group is None else list(compared.groupby(group, sort=False, observed=True))
    counts = []
    for name, part in parts:
        span = part.iloc[skipped:]
        count = {"group": name, "periods": len(span), "met": int(span[MEETS].sum())}
        if is_bounded:
            count["certain"] = int(np.sum(meets(span[nearest], value)))
            count["excluded"] = int(np.sum(~meets(span[farthest], value)))
        counts.append(count)
    return compared, counts


def compare_answers(answers: Sequence[dict[str, Any]], bound: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Compare one number of each series with a bound: `meets`, and `is_certain` if its interval agrees."""
    meets, value = _SIGNS[bound["sign"]], bound["value"]
    compared = []
    for answer in answers:
        verdict = bool(meets(answer["value"], value))
        ends = {bool(meets(answer[name], value)) for name in ("low", "high")}
        compared.append({**answer, "meets": verdict, "is_certain": ends == {verdict}})
    return compared
