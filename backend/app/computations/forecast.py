"""Forecast what comes after the last row of a session's table."""

from typing import Any

import pandas as pd

from app.computations.bench import Bench
from app.computations.frames import answer, read_frame, write_frame
from app.computations.pictures import leave_pictures
from app.computations.predict import open_model
from app.json_types import JsonValue
from app.modeling.forecasting.future import latest_rows
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import select_inputs
from app.modeling.table.json_values import to_json_value
from app.modeling.table.numeric import to_float
from app.modeling.training.ensemble.average import first_recipe
from app.reporting.figure_choice import forecast_figures

MAX_TOLD = 60
"""Forecasts that are told, of as many whole series as fit; all are in the file."""
MAX_DRAWN = 4
"""Series in a figure: those with the most rows."""
BEFORE = 4
"""How many times as far as the forecast reaches the rows before it are drawn."""


def forecast_future(bench: Bench) -> JsonValue:
    """Inputs `train` and `holdout` (RAW frames) and `model` (model.skops), which may have learned from both.

    Leaves forecasts.csv and forecasts.parquet: series, moment, rows ahead, prediction and its interval or
    probabilities. Answers `{"rows", "series", "horizon", "first", "last", "level", "forecasts", "figures"}`.
    """
    model = open_model(bench)
    problem = model.problem
    table = pd.concat([read_frame(bench, "train"), read_frame(bench, "holdout")], ignore_index=True)
    depth = first_recipe(model.stored.pipeline).history_rows
    rows = latest_rows(table, problem, depth + (problem.horizon or 1))
    made = model.future(select_inputs(rows, problem))
    write_frame(bench, made, "forecasts.parquet")
    made.to_csv(bench.output / "forecasts.csv", index=False)
    bounds = model.stored.metadata.get("prediction_intervals") or {}
    moments = made[problem.time_column]
    facts: dict[str, Any] = {
        "rows": len(made),
        "series": 1 if not problem.group_column else int(made[problem.group_column].nunique()),
        "horizon": problem.horizon,
        "first": moments.min(),
        "last": moments.max(),
        "level": bounds.get("level"),
        "time_column": problem.time_column,
        "group_column": problem.group_column,
        "forecasts": model.facts(len(made), made.head(_told(made, problem)), [])["predictions"],
    }
    drawn = forecast_figures(_panels(table, made, problem), problem.target) if _is_amount(problem) else []
    facts["figures"] = leave_pictures(bench.output, drawn)
    return answer(facts)


def _told(made: pd.DataFrame, problem: Problem) -> int:
    """How many of the rows, which lie series by series, are told."""
    if not problem.group_column:
        return MAX_TOLD
    ends = made.groupby(problem.group_column, sort=False, observed=True).size().cumsum()
    return int(ends[ends <= MAX_TOLD].max()) if (ends <= MAX_TOLD).any() else MAX_TOLD


def _is_amount(problem: Problem) -> bool:
    return not problem.is_classification and problem.outlook is Outlook.VALUE


def _panels(table: pd.DataFrame, made: pd.DataFrame, problem: Problem) -> list[dict[str, Any]]:
    """`[{"label", "times", "values", "ahead", "predictions", "low", "high"}]` of the longest series."""
    group, time = problem.group_column, str(problem.time_column)
    names = [None] if group is None else table[group].value_counts().index[:MAX_DRAWN].tolist()
    panels = []
    for name in names:
        past = table if name is None else table[table[group] == name]
        said = made if name is None else made[made[group] == name]
        past = past.sort_values(time).tail(max(BEFORE * (problem.horizon or 1), 30))
        panels.append(
            {
                "label": None if name is None else str(name),
                "times": to_json_value(past[time]),
                "values": to_json_value(to_float(past[problem.target])),
                "ahead": to_json_value(said[time]),
                "predictions": to_json_value(said["prediction"]),
                "low": to_json_value(said["low"]) if "low" in said else None,
                "high": to_json_value(said["high"]) if "high" in said else None,
            }
        )
    return panels
