"""Trade on the chosen model's word over the hold-out, with costs."""

from typing import Any

import numpy as np
import pandas as pd

from app.computations.bench import Bench
from app.computations.frames import answer, read_frame, read_model
from app.computations.pictures import leave_pictures
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.modeling.markets.backtest import TradingTerms
from app.modeling.markets.backtest_report import backtest_report
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import select_inputs
from app.modeling.scoring.calibration import apply_calibration
from app.modeling.training.fitting import predict_all
from app.reporting.figure_choice import backtest_figures

MIN_ROWS = 20
LEDGER = "backtest.csv"


def backtest_model(
    bench: Bench,
    model: str,
    terms: dict[str, float],
    chosen: dict[str, Any],
    fits: list[dict[str, Any]] | None = None,
) -> JsonValue:
    """Inputs `train` and `holdout` (RAW frames), oof_0, oof_1, ... of `fits`, and `model` (model.skops of the
    chosen model), or instead its `answers` (`evaluate.answers_of_model`).

    `chosen`: `{"problem", "calibration"}` of the model's `FitFacts`.
    `fits`: `[{"name", "calibration"}]` of every candidate's parts, parts of one name being one candidate.
    `terms`: see `markets.backtest.Terms`. Leaves backtest.csv, the hold-out bar by bar. Answers what
    `markets.report.played` does; raises InvalidInput `no_backtest` for a problem that looks ahead at no
    price, or too few rows.
    """
    train, holdout = read_frame(bench, "train"), read_frame(bench, "holdout")
    problem = Problem.from_json(chosen["problem"])
    _check(problem, train, holdout)
    said = _answers(bench, holdout, problem)
    said = apply_calibration(said, chosen.get("calibration")) if problem.is_classification else said
    tried = _tried(bench, problem, fits or [])
    facts, ledger = backtest_report(train, holdout, problem, TradingTerms(**terms), said, tried, model)
    ledger.to_csv(bench.output / LEDGER, index=False)
    facts["figures"] = leave_pictures(bench.output, backtest_figures(facts, problem.target))
    return answer(facts)


def _answers(bench: Bench, holdout: pd.DataFrame, problem: Problem) -> np.ndarray:
    if "answers" not in bench.inputs:
        pipeline = read_model(bench).pipeline
        return predict_all(pipeline, select_inputs(holdout, problem), problem, bench.threads)
    said = read_frame(bench, "answers").to_numpy(dtype="float64")
    return said if problem.is_classification else said[:, 0]


def _check(problem: Problem, train: pd.DataFrame, holdout: pd.DataFrame) -> None:
    if not problem.horizon or not problem.time_column:
        raise InvalidInput("no_backtest", "A backtest needs a forecast: a horizon, and a date column.")
    is_of_direction = not problem.is_classification or "up" in (problem.classes or ())
    if problem.outlook is Outlook.VOLATILITY or not is_of_direction:
        raise InvalidInput("no_backtest", "A backtest needs a forecast of a price or of its direction.")
    if (train[problem.target] <= 0).any() or (holdout[problem.target] <= 0).any():
        raise InvalidInput("no_backtest", f"{problem.target!r} is no price: some values are not above 0.")
    if len(holdout) < MIN_ROWS:
        raise InvalidInput("no_backtest", f"A backtest needs {MIN_ROWS} rows in the hold-out.")


def _tried(
    bench: Bench, problem: Problem, fits: list[dict[str, Any]]
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Out-of-fold output of each candidate, its parts together."""
    found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    for place, fit in enumerate(fits):
        oof = read_frame(bench, f"oof_{place}")
        if problem.is_classification:
            shares = oof[[f"p_{number}" for number in range(len(problem.classes or ()))]].to_numpy()
            output = apply_calibration(shares, fit.get("calibration"))
        else:
            output = oof["prediction"].to_numpy()
        found.setdefault(str(fit["name"]), []).append((oof["row"].to_numpy(), output))
    return {
        name: (np.concatenate([rows for rows, _ in parts]), np.concatenate([output for _, output in parts]))
        for name, parts in found.items()
    }
