"""Predict rows that were never seen."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from app.computations.bench import Bench
from app.computations.frames import answer, read_model
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.modeling.forecasting.future import future_rows, prediction_times
from app.modeling.problem.problem import Problem
from app.modeling.problem.results import PredictionFacts
from app.modeling.recipe.forecast_origins import ORIGIN_ROW, ROWS_AHEAD, get_rows_ahead, has_horizon_rows
from app.modeling.scoring.calibration import apply_calibration
from app.modeling.scoring.prediction_intervals import predict_interval
from app.modeling.table.json_values import to_json_scalar
from app.modeling.training.ensemble.average import first_recipe, list_members
from app.modeling.training.fitting import predict_all
from app.modeling.training.persistence import StoredModel
from app.modeling.training.schema import SchemaJson, conform_rows, time_gap_warnings

MAX_ANSWERED = 1000


@dataclass(frozen=True)
class OpenModel:
    """A stored model that says what it predicts."""

    stored: StoredModel
    threads: int

    @property
    def problem(self) -> Problem:
        return Problem.from_json(self.stored.metadata["problem"])

    @property
    def schema(self) -> SchemaJson:
        schema: SchemaJson = self.stored.metadata["schema"]
        return schema

    def predictions(self, rows: pd.DataFrame) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
        """In the order of the rows, and warnings; raises InvalidInput that names what is wrong with them.

        Of a forecast of every step: the steps after the last row of each series, in order of series and step.
        """
        problem = self.problem
        inputs, warnings = conform_rows(rows, self.schema, problem.parsers)
        warnings += time_gap_warnings(inputs, first_recipe(self.stored.pipeline))
        if problem.every_step:
            return self.future(inputs), warnings
        output = predict_all(self.stored.pipeline, inputs, problem, self.threads)
        _check_said(output, inputs.index, problem)
        if problem.is_classification:
            return _classes(output, problem, self.stored.metadata), warnings
        return _numbers(output, self.stored.metadata), warnings

    def future(self, rows: pd.DataFrame) -> pd.DataFrame:
        """What comes after the last of these rows, of each series: `forecasting.future.asked_about` beside the
        predictions."""
        problem, metadata = self.problem, self.stored.metadata
        asked, beyond = future_rows(rows, problem)
        output = predict_all(self.stored.pipeline, asked, problem, self.threads)[beyond]
        asked = asked.iloc[beyond]
        _check_said(output, asked[ORIGIN_ROW] if has_horizon_rows(asked) else asked.index, problem)
        past = first_recipe(self.stored.pipeline).load_history()
        known = rows if past is None else pd.concat([past[[*rows.columns.intersection(past.columns)]], rows])
        made = (
            _classes(output, problem, metadata)
            if problem.is_classification
            else _numbers(output, metadata, get_rows_ahead(asked))
        )
        return pd.concat([prediction_times(asked, problem, known), made], axis=1)

    def facts(self, rows: int, first: pd.DataFrame, warnings: list[dict[str, Any]]) -> PredictionFacts:
        records = first.head(MAX_ANSWERED).to_dict("records")
        return {
            "rows": rows,
            "predictions": [_row(record, self.problem) for record in records],
            "warnings": warnings,
        }


def open_model(bench: Bench) -> OpenModel:
    """The input `model` (model.skops); raises InvalidInput `no_input`, `untrusted_model` or `bad_model`."""
    stored = read_model(bench)
    for member in list_members(stored.pipeline):
        _use(member.named_steps["estimator"], bench.threads)
    return OpenModel(stored, bench.threads)


def _use(estimator: Any, threads: int) -> None:
    """Not as many threads as it was fitted with: for one row, waiting for each other is nearly all they do."""
    names = [name for name in estimator.get_params() if name.rpartition("__")[2] == "n_jobs"]
    estimator.set_params(**dict.fromkeys(names, threads))


def predict(bench: Bench, rows: list[dict[str, Any]]) -> JsonValue:
    """Input `model`; answers `results.PredictionFacts`.

    Raises InvalidInput `missing_columns`, `wrong_type`, `no_rows`, `present_value_missing`, or as `open_model`.
    """
    model = open_model(bench)
    predictions, warnings = model.predictions(_given(rows))
    return answer(model.facts(len(predictions), predictions, warnings))


def _check_said(output: np.ndarray, rows: pd.Index | pd.Series, problem: Problem) -> None:
    silent = np.flatnonzero(np.isnan(output) if output.ndim == 1 else np.isnan(output).any(axis=1))
    if len(silent):
        row = int(rows.to_numpy()[silent[0]])
        raise InvalidInput(
            "present_value_missing",
            f"A forecast starts from the present {problem.target!r}, which row {row} does not have.",
            column=problem.target,
            row=row,
        )


def _given(rows: list[dict[str, Any]]) -> pd.DataFrame:
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise InvalidInput("no_rows", "Give at least one row, each an object of column names and values.")
    return pd.DataFrame.from_records(json.loads(json.dumps(rows)))


def _numbers(output: np.ndarray, metadata: Mapping[str, Any], ahead: np.ndarray | None = None) -> pd.DataFrame:
    """`prediction`, and where the model has them the bounds of its interval, `low` and `high`."""
    intervals = metadata.get("prediction_intervals")
    if intervals is None:
        return pd.DataFrame({"prediction": output})
    low, high = predict_interval(output, intervals, rows_ahead=ahead)
    return pd.DataFrame({"prediction": output, "low": low, "high": high})


def _classes(output: np.ndarray, problem: Problem, metadata: Mapping[str, Any]) -> pd.DataFrame:
    """`prediction`, and a calibrated `probability_` of each class."""
    classes, threshold = problem.classes or (), metadata.get("threshold")
    output = apply_calibration(output, metadata.get("calibration"))
    chosen = output.argmax(axis=1)
    if problem.is_binary and threshold is not None:
        positive = problem.positive_index
        chosen = np.where(output[:, positive] >= threshold, positive, 1 - positive)
    columns: dict[str, Any] = {"prediction": [classes[place] for place in chosen]}
    columns |= {f"probability_{name}": output[:, place] for place, name in enumerate(classes)}
    return pd.DataFrame(columns)


def _row(record: dict[Any, Any], problem: Problem) -> dict[str, Any]:
    asked = (problem.group_column, problem.time_column, ROWS_AHEAD)
    made: dict[str, Any] = {name: to_json_scalar(record[name]) for name in asked if name and name in record}
    made["prediction"] = to_json_scalar(record["prediction"])
    if problem.is_classification:
        made["probabilities"] = {
            str(name): round(float(record[f"probability_{name}"]), 6) for name in problem.classes or ()
        }
    return made | {bound: to_json_scalar(record[bound]) for bound in ("low", "high") if bound in record}
