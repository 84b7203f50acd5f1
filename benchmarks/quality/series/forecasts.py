"""Forecasts from several origins in the last third of the time, each from the values before its origin."""

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.quality.labcrew_client import LabcrewClient, session_duration_s
from benchmarks.quality.resource_usage import ResourceMonitor
from benchmarks.quality.run_folders import Json
from benchmarks.quality.series.prepare import SINGLE
from benchmarks.quality.series.references import make_references

MAX_ORIGINS = 12
"""Moments to forecast from: each is a request, and neighbouring ones share most of their future."""
MAX_SENT_ROWS = 900
"""Rows of one request, fewer than the API takes. Of each series the latest are sent."""

Forecast = dict[str, Any]
"""`origin` (moments known), `series`, `step`, `value`, and `low` and `high` of the crew's."""


def list_origins(facts: Json) -> list[int]:
    """Numbers of known moments, evenly spaced over the last third, so that every step has a true value."""
    first, last = facts["train_moments"], facts["moments"] - facts["horizon"]
    return list(range(first, last + 1, origin_spacing(facts)))


def origin_spacing(facts: Json) -> int:
    """Moments between two origins."""
    return max(1, math.ceil((facts["moments"] - facts["horizon"] - facts["train_moments"] + 1) / MAX_ORIGINS))


def read_values(folder: Path) -> pd.DataFrame:
    """Values (moments, series), indexed by the moment as it is written."""
    return pd.read_csv(folder / "values.csv", index_col=0)


def forecast_references(folder: Path, facts: Json) -> Json:
    """Forecast by every reference: `{"forecasts": {reference: [Forecast]}}`."""
    values, forecasts = read_values(folder), dict[str, list[Forecast]]()
    for origin in list_origins(facts):
        for name in values.columns:
            past = values[name].to_numpy(float)[:origin]
            for reference, path in make_references(past, facts["seasons"], facts["horizon"]).items():
                forecasts.setdefault(reference, []).extend(
                    {"origin": origin, "series": name, "step": step + 1, "value": value}
                    for step, value in enumerate(path.tolist())
                )
    return {"forecasts": forecasts}


def forecast_with_labcrew(client: LabcrewClient, folder: Path, facts: Json, budget_s: float) -> Json:
    """Run one session on the first two thirds and forecast with its model.

    Raises RuntimeError with the session's error if there is no model.
    """
    data, started = client.upload(folder / "train.csv"), time.monotonic()
    target = {} if facts["measure"] else {"target": facts["target"]}
    preferences = {"time_budget_s": budget_s, "clarify": "never", "seed": 1, **target}
    request = {"goal": facts["goal"], "dataset_ids": [data], "preferences": preferences}
    with ResourceMonitor(client.pid, started) as monitor:
        session = client.run_session(request, budget_s)
    usage = monitor.finish(time.monotonic())
    result = session["result"] or {}
    if session["status"] != "completed" or not result.get("model"):
        raise RuntimeError(str(session["error"] or result.get("headline") or "no model"))
    model = client.get_model(result["model"])
    forecasts: list[Forecast] = []
    for origin in list_origins(facts):
        rows = _known_rows(folder, facts, origin, model["problem"])
        forecasts += [
            {"origin": origin, **entry}
            for entry in _parse_predictions(client.predict_rows(result["model"], rows), facts, model["problem"])
        ]
    return {
        "forecasts": {"labcrew": forecasts},
        "session": session["id"],
        "fit_s": session_duration_s(session),
        "wall_s": time.monotonic() - started,
        "note": result["model_name"],
        "forecaster": result.get("forecaster"),
        "problem": result["problem"],
        "holdout": result["holdout"],
        "cautions": result["cautions"],
        **vars(usage),
    }


def _known_rows(folder: Path, facts: Json, origin: int, problem: Json) -> list[Json]:
    """The latest rows of each series that are known at an origin, with the names of the model's columns."""
    values = read_values(folder)
    per_series = MAX_SENT_ROWS // len(values.columns)
    known_values = values.iloc[max(0, origin - per_series) : origin]
    if facts["measure"]:
        return _period_rows(known_values, problem)
    rows = pd.read_csv(folder / "rows.csv", dtype=str, keep_default_na=False)
    sent_rows = rows[rows[facts["time"]].isin(known_values.index.astype(str))]
    return [{name: cell or None for name, cell in row.items()} for row in sent_rows.to_dict("records")]


def _period_rows(known_values: pd.DataFrame, problem: Json) -> list[Json]:
    """Summed periods, named as the crew named them when it summed the transactions."""
    time_column, group = problem["time_column"], problem.get("group_column")
    rows = []
    for name in known_values.columns:
        label = {} if group is None else {group: name}
        for moment, value in known_values[name].dropna().items():
            rows.append({time_column: moment, **label, problem["target"]: float(value)})
    return rows


def _parse_predictions(answer: Json, facts: Json, problem: Json) -> list[Forecast]:
    group = problem.get("group_column")
    forecasts = []
    for entry in answer["predictions"]:
        step = entry.get("rows_ahead") or 1
        if step <= facts["horizon"]:
            forecasts.append(
                {
                    "series": SINGLE if group is None else str(entry[group]),
                    "step": step,
                    "value": entry["prediction"],
                    "low": entry.get("low"),
                    "high": entry.get("high"),
                }
            )
    return forecasts


def forecast_array(
    forecasts: list[Forecast], values: pd.DataFrame, facts: Json, field: str = "value"
) -> np.ndarray:
    """One part of the forecasts (origins, series, steps), missing where there is none."""
    origins = {origin: position for position, origin in enumerate(list_origins(facts))}
    series = {name: position for position, name in enumerate(values.columns)}
    array = np.full((len(origins), len(series), facts["horizon"]), np.nan)
    for entry in forecasts:
        if entry["series"] in series and entry.get(field) is not None:
            array[origins[entry["origin"]], series[entry["series"]], entry["step"] - 1] = entry[field]
    return array


def true_values(values: pd.DataFrame, facts: Json) -> np.ndarray:
    """The truth (origins, series, steps)."""
    array = values.to_numpy(float)
    return np.stack([array[origin : origin + facts["horizon"]].T for origin in list_origins(facts)])
