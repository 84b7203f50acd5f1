"""Backtest of the chosen model on the hold-out, with costs."""

from typing import Any

import numpy as np
import pandas as pd

from app.computations.cell_files.figure_files import write_figures
from app.computations.cell_files.frames import read_frame, read_model, to_json_facts
from app.computations.cell_files.workspace import CellWorkspace
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
"""Hold-out rows: returns of fewer show nothing."""
LEDGER = "backtest.csv"


def backtest_model(
    workspace: CellWorkspace,
    model: str,
    terms: dict[str, float],
    chosen: dict[str, Any],
    fits: list[dict[str, Any]] | None = None,
) -> JsonValue:
    """Backtest the chosen model on the hold-out.

    Inputs `train` and `holdout` (RAW frames), oof_0, oof_1, ... of `fits`, and `model` (model.skops of the
    chosen model), or instead its `answers` (`evaluate.answers_of_model`). `chosen`: `{"problem",
    "calibration"}` of the model's `FitFacts`. `fits`: `[{"name", "calibration"}]` of every candidate's parts,
    parts of one name being one candidate. `terms`: see `markets.backtest.TradingTerms`. Leaves backtest.csv,
    the hold-out bar by bar. Returns the facts of `markets.backtest_report`. Raises InvalidInput `no_backtest`
    for a problem that does not forecast a price, or too few rows.
    """
    train, holdout = read_frame(workspace, "train"), read_frame(workspace, "holdout")
    problem = Problem.from_json(chosen["problem"])
    _check_problem(problem, train, holdout)
    predictions = _predict_or_read(workspace, holdout, problem)
    predictions = (
        apply_calibration(predictions, chosen.get("calibration")) if problem.is_classification else predictions
    )
    oof = _read_oof(workspace, problem, fits or [])
    facts, ledger = backtest_report(train, holdout, problem, TradingTerms(**terms), predictions, oof, model)
    ledger.to_csv(workspace.output / LEDGER, index=False)
    facts["figures"] = write_figures(workspace.output, backtest_figures(facts, problem.target))
    return to_json_facts(facts)


def _predict_or_read(workspace: CellWorkspace, holdout: pd.DataFrame, problem: Problem) -> np.ndarray:
    # A model with custom code has answered in a cell that has no labels, and is not run here.
    if "answers" not in workspace.inputs:
        pipeline = read_model(workspace).pipeline
        return predict_all(pipeline, select_inputs(holdout, problem), problem, workspace.threads)
    predictions = read_frame(workspace, "answers").to_numpy(dtype="float64")
    return predictions if problem.is_classification else predictions[:, 0]


def _check_problem(problem: Problem, train: pd.DataFrame, holdout: pd.DataFrame) -> None:
    if not problem.horizon or not problem.time_column:
        raise InvalidInput("no_backtest", "A backtest needs a forecast: a horizon, and a date column.")
    is_of_direction = not problem.is_classification or "up" in (problem.classes or ())
    if problem.outlook is Outlook.VOLATILITY or not is_of_direction:
        raise InvalidInput("no_backtest", "A backtest needs a forecast of a price or of its direction.")
    # Relative returns of other numbers mean nothing.
    if (train[problem.target] <= 0).any() or (holdout[problem.target] <= 0).any():
        raise InvalidInput("no_backtest", f"{problem.target!r} is not a price: some values are not above 0.")
    if len(holdout) < MIN_ROWS:
        raise InvalidInput("no_backtest", f"A backtest needs {MIN_ROWS} rows in the hold-out.")


def _read_oof(
    workspace: CellWorkspace, problem: Problem, fits: list[dict[str, Any]]
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Out-of-fold output of each candidate, its parts concatenated."""
    parts_by_name: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    for number, fit in enumerate(fits):
        oof = read_frame(workspace, f"oof_{number}")
        if problem.is_classification:
            shares = oof[[f"p_{index}" for index in range(len(problem.classes or ()))]].to_numpy()
            output = apply_calibration(shares, fit.get("calibration"))
        else:
            output = oof["prediction"].to_numpy()
        parts_by_name.setdefault(str(fit["name"]), []).append((oof["row"].to_numpy(), output))
    return {
        name: (np.concatenate([rows for rows, _ in parts]), np.concatenate([output for _, output in parts]))
        for name, parts in parts_by_name.items()
    }
