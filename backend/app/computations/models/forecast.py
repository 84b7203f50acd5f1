"""Forecast of the future of a session's table."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from app.computations.cell_files.figure_files import write_figures
from app.computations.cell_files.frames import read_frame, to_json_facts, write_frame
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models.predict import FORECASTER, OpenModel, open_model
from app.json_types import JsonValue
from app.modeling.forecasting.classical_forecaster import describe_forecaster
from app.modeling.forecasting.forecast_comparison import MEETS, compare_answers, compare_forecasts, rank_answers
from app.modeling.forecasting.future_rows import latest_rows
from app.modeling.forecasting.path_intervals import LEVEL
from app.modeling.forecasting.reference_comparison import forecasts_every_amount
from app.modeling.forecasting.series_forecast import forecast_series, reduce_forecasts
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import select_inputs
from app.modeling.recipe.sampling_interval import IntervalUnit, detect_interval
from app.modeling.recipe.time_series import split_series
from app.modeling.table.json_values import to_json_value
from app.modeling.table.numeric import to_float
from app.modeling.training.ensemble.average import first_recipe
from app.modeling.training.persistence import serialize_model
from app.reporting.figure_choice import forecast_figures

MAX_LISTED = 60
"""Forecasts in the facts, of as many complete series as fit; the file has all."""
MAX_DRAWN = 4
"""Series in a figure: those with the most rows."""
HISTORY_HORIZONS = 4
"""Rows drawn before the forecast, as a multiple of its horizon."""


def forecast_future(
    workspace: CellWorkspace,
    is_model: bool = True,
    answer: str = "each_period",
    skipped: int = 0,
    ranking: str | None = None,
    bound: dict[str, Any] | None = None,
) -> JsonValue:
    """Forecast beyond the last row of each series.

    Inputs `train` and `holdout` (RAW frames) and `model` (model.skops), which may be fitted on both. Leaves
    forecasts.csv and forecasts.parquet: series, time, rows ahead, prediction and its interval or probabilities.
    Without `is_model` the classical methods forecast that were best on the last part of the past, and leave
    model.skops: the model that predicts by them from now on. `answer`: one number that is asked of the periods
    after the first `skipped`; `ranking` sorts those of several series, and `bound` is compared with them, or
    else with each forecast.
    Returns `{"rows", "series", "horizon", "first", "last", "level", "months_apart", "forecaster", "answer",
    "answers", "ranking", "bound", "comparisons", "forecasts", "figures"}`; `forecaster` is None for the model.
    """
    model = open_model(workspace)
    problem = model.problem
    # The future begins after the hold-out, so its rows are the latest history.
    table = pd.concat([read_frame(workspace, "train"), read_frame(workspace, "holdout")], ignore_index=True)
    is_classical = not is_model and forecasts_every_amount(problem)
    classical = forecast_series(table, problem, answer, skipped) if is_classical else None
    if classical is None:
        history_rows = first_recipe(model.stored.pipeline).history_rows
        rows = latest_rows(table, problem, history_rows + (problem.horizon or 1))
        forecasts = model.future(select_inputs(rows, problem))
        answers = reduce_forecasts(forecasts, problem, answer, skipped, table)
        bounds = model.stored.metadata.get("prediction_intervals") or {}
        forecaster, level = None, bounds.get("level")
    else:
        forecasts, answers = classical.frame, classical.answers
        forecaster, level = classical.method, LEVEL
        described = describe_forecaster(classical.forecaster, classical.histories)
        # What is delivered must forecast as the report does: the methods travel with the model.
        delivered = replace(model.stored, metadata={**model.stored.metadata, FORECASTER: described})
        (workspace.output / "model.skops").write_bytes(serialize_model(delivered))
    comparisons: list[dict[str, Any]] = []
    if bound and answers:
        answers = compare_answers(answers, bound)
    elif bound and _is_amount(problem):
        forecasts, comparisons = compare_forecasts(forecasts, problem, bound, skipped)
    write_frame(workspace, forecasts, "forecasts.parquet")
    forecasts.to_csv(workspace.output / "forecasts.csv", index=False)
    moments = forecasts[problem.time_column]
    span = {"first": moments.iloc[skipped : skipped + 1].min(), "last": moments.iloc[-1:].max()}
    facts: dict[str, Any] = {
        "rows": len(forecasts),
        "series": 1 if not problem.group_column else int(forecasts[problem.group_column].nunique()),
        "horizon": problem.horizon,
        "first": moments.min(),
        "last": moments.max(),
        "level": level,
        "months_apart": _months_apart(table, problem),
        "time_column": problem.time_column,
        "group_column": problem.group_column,
        "forecaster": forecaster,
        "answer": answer,
        "answers": [{**entry, **span} for entry in rank_answers(answers, ranking)],
        "ranking": ranking if answers else None,
        "bound": bound if answers or comparisons else None,
        "comparisons": [{**entry, **span} for entry in comparisons],
        "forecasts": _list_forecasts(model, forecasts),
    }
    figures = (
        forecast_figures(_panels(table, forecasts, problem), problem.target) if _is_amount(problem) else []
    )
    facts["figures"] = write_figures(workspace.output, figures)
    return to_json_facts(facts)


def _list_forecasts(model: OpenModel, forecasts: pd.DataFrame) -> list[dict[str, JsonValue]]:
    """List the first forecasts, with their comparison with a bound where there is one."""
    first_rows = forecasts.head(_count_listed(forecasts, model.problem))
    records = model.to_records(first_rows)
    if MEETS not in first_rows:
        return records
    return [{**record, MEETS: bool(meets)} for record, meets in zip(records, first_rows[MEETS], strict=True)]


def _months_apart(table: pd.DataFrame, problem: Problem) -> int | None:
    """Return the months between rows of a series: 1, 3 or 12 for months, quarters or years; None for others."""
    # Series of one table come at the same interval; the first stands for all.
    first_series = split_series(table, problem)[0]
    times = np.sort(table[str(problem.time_column)].iloc[first_series].to_numpy())
    interval = detect_interval(times)
    return int(interval.count) if interval and interval.unit is IntervalUnit.MONTH else None


def _count_listed(forecasts: pd.DataFrame, problem: Problem) -> int:
    """Count the forecasts to list: complete series, as many as fit."""
    if not problem.group_column:
        return MAX_LISTED
    ends = forecasts.groupby(problem.group_column, sort=False, observed=True).size().cumsum()
    # A series that is longer than the list is cut.
    return int(ends[ends <= MAX_LISTED].max()) if (ends <= MAX_LISTED).any() else MAX_LISTED


def _is_amount(problem: Problem) -> bool:
    return not problem.is_classification and problem.outlook is Outlook.VALUE


def _panels(table: pd.DataFrame, forecasts: pd.DataFrame, problem: Problem) -> list[dict[str, Any]]:
    """`[{"label", "times", "values", "ahead", "predictions", "low", "high"}]` of the longest series."""
    group, time = problem.group_column, str(problem.time_column)
    names = [None] if group is None else table[group].value_counts().index[:MAX_DRAWN].tolist()
    panels = []
    for name in names:
        past = table if name is None else table[table[group] == name]
        predicted = forecasts if name is None else forecasts[forecasts[group] == name]
        # At least 30 rows: a forecast of one step beside four points would show no course.
        past = past.sort_values(time).tail(max(HISTORY_HORIZONS * (problem.horizon or 1), 30))
        panels.append(
            {
                "label": None if name is None else str(name),
                "times": to_json_value(past[time]),
                "values": to_json_value(to_float(past[problem.target])),
                "ahead": to_json_value(predicted[time]),
                "predictions": to_json_value(predicted["prediction"]),
                "low": to_json_value(predicted["low"]) if "low" in predicted else None,
                "high": to_json_value(predicted["high"]) if "high" in predicted else None,
            }
        )
    return panels
