"""Prediction of new rows with a stored model."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from app.computations.cell_files.frames import read_model, to_json_facts
from app.computations.cell_files.workspace import CellWorkspace
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.modeling.facts.computation_facts import PredictionFacts
from app.modeling.forecasting.classical_forecaster import StoredForecaster
from app.modeling.forecasting.future_rows import future_rows, prediction_times
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ORIGIN_ROW, ROWS_AHEAD, get_rows_ahead, has_horizon_rows
from app.modeling.recipe.time_series import split_series
from app.modeling.scoring.calibration import apply_calibration
from app.modeling.scoring.prediction_intervals import predict_interval
from app.modeling.table.json_values import to_json_scalar
from app.modeling.table.numeric import to_float
from app.modeling.training.ensemble.average import first_recipe, list_members
from app.modeling.training.fitting import predict_all
from app.modeling.training.persistence import StoredModel
from app.modeling.training.schema import DISTANCE, MAX_PROBLEMS, SchemaJson, conform_rows, time_gap_warnings

MAX_ANSWERED = 1000
"""Predictions in the facts; larger tables are predicted to a file."""
FORECASTER = "forecaster"
"""Key of a model's metadata that holds the classical methods which forecast better than the model itself."""


@dataclass(frozen=True)
class PredictedRows:
    """Predictions in the order of the rows, with warnings, the cells that could not be read, and the rows with
    values outside of the ranges in training."""

    predictions: pd.DataFrame
    warnings: list[dict[str, Any]]
    problems: list[dict[str, Any]]
    outside: list[dict[str, Any]]


@dataclass(frozen=True)
class OpenModel:
    """A stored model with its problem and schema, ready to predict."""

    stored: StoredModel
    threads: int
    strict: bool = False
    """Whether an unreadable cell is refused; else it is a missing value."""

    @property
    def problem(self) -> Problem:
        return Problem.from_json(self.stored.metadata["problem"])

    @property
    def schema(self) -> SchemaJson:
        schema: SchemaJson = self.stored.metadata["schema"]
        return schema

    @cached_property
    def forecaster(self) -> StoredForecaster | None:
        """The classical methods that forecast in place of the model, None if the model does."""
        described = self.stored.metadata.get(FORECASTER)
        return StoredForecaster.from_json(described, self.problem) if described else None

    @property
    def strict_columns(self) -> frozenset[str]:
        """Columns in which an unreadable cell is refused: all, or those that place the rows of a forecast."""
        problem = self.problem
        if self.strict:
            return frozenset(column["name"] for column in self.schema)
        if not problem.horizon:
            return frozenset()
        return frozenset(name for name in (problem.time_column, problem.group_column, problem.target) if name)

    def require_columns(self, names: Iterable[object]) -> None:
        """Raise InvalidInput `missing_columns` for rows that those of the model are made of, with the way."""
        source, columns = self.problem.made_of, {str(name) for name in names}
        missing = [column["name"] for column in self.schema if column["required"]]
        missing = [name for name in missing if name not in columns]
        if source and missing:
            raise InvalidInput(
                "missing_columns",
                f"The rows of this model were made of those of {source!r}, and {missing[0]!r} is no column of a"
                " file with such rows. To rank who is in a newer file, run a session with that file and the"
                " same goal: the ranking is its `predictions.csv`.",
                missing=missing,
            )

    def predictions(self, rows: pd.DataFrame) -> PredictedRows:
        """Predict rows, in their order; raises InvalidInput that names a fault.

        A forecast of every step: the steps after the last row of each series, in order of series and step.
        """
        problem = self.problem
        self.require_columns(rows.columns)
        # A forecast is about later times than it has learned from: none of its rows is out of range for that.
        time_column = None if problem.horizon else problem.time_column
        inputs, warnings, problems, outside = conform_rows(
            rows, self.schema, problem.parsers, self.strict_columns, time_column
        )
        if self.forecaster is None:
            warnings += time_gap_warnings(inputs, first_recipe(self.stored.pipeline))
        if problem.every_step:
            return PredictedRows(self.future(inputs), warnings, problems, outside)
        output = predict_all(self.stored.pipeline, inputs, problem, self.threads)
        _check_complete(output, inputs.index, problem)
        if problem.is_classification:
            return PredictedRows(_classes(output, problem, self.stored.metadata), warnings, problems, outside)
        return PredictedRows(_numbers(output, self.stored.metadata), warnings, problems, outside)

    def future(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Forecast beyond the last row of each series: `future_rows.prediction_times` with the
        predictions."""
        problem, metadata = self.problem, self.stored.metadata
        if self.forecaster is not None:
            # Only the last row of a series needs its value: gaps before it are filled.
            last = np.array([series[-1] for series in split_series(rows, problem)])
            _check_complete(to_float(rows[problem.target]).to_numpy()[last], rows.index[last], problem)
            return self.forecaster.forecast(rows, problem)
        questions, positions = future_rows(rows, problem)
        output = predict_all(self.stored.pipeline, questions, problem, self.threads)[positions]
        questions = questions.iloc[positions]
        _check_complete(
            output, questions[ORIGIN_ROW] if has_horizon_rows(questions) else questions.index, problem
        )
        # Few sent rows do not show the interval between rows; the stored ones of training do.
        past = first_recipe(self.stored.pipeline).load_history()
        history = rows if past is None else pd.concat([past[[*rows.columns.intersection(past.columns)]], rows])
        predictions = (
            _classes(output, problem, metadata)
            if problem.is_classification
            else _numbers(output, metadata, get_rows_ahead(questions))
        )
        return pd.concat([prediction_times(questions, problem, history), predictions], axis=1)

    def facts(self, rows: int, predicted: PredictedRows) -> PredictionFacts:
        """Facts on the first predictions of a table of `rows`."""
        return {
            "rows": rows,
            "predictions": self.to_records(predicted.predictions.head(MAX_ANSWERED)),
            "warnings": [_without_distance(warning) for warning in predicted.warnings],
            "problems": predicted.problems[:MAX_PROBLEMS],
            "outside_training": predicted.outside[:MAX_PROBLEMS],
            "forecaster": self.forecaster.method if self.forecaster else None,
        }

    def to_records(self, predictions: pd.DataFrame) -> list[dict[str, Any]]:
        """Predictions as JSON, one object for each row."""
        return [_prediction_json(record, self.problem) for record in predictions.to_dict("records")]


def open_model(workspace: CellWorkspace, strict: bool = False) -> OpenModel:
    """Load the input `model` (model.skops); raises InvalidInput `no_input`, `untrusted_model` or
    `bad_model`."""
    stored = read_model(workspace)
    for member in list_members(stored.pipeline):
        _set_threads(member.named_steps["estimator"], workspace.threads)
    return OpenModel(stored, workspace.threads, strict)


def _set_threads(estimator: Any, threads: int) -> None:
    """Set the number of threads: those of the fit would mostly wait for each other on a single row."""
    names = [name for name in estimator.get_params() if name.rpartition("__")[2] == "n_jobs"]
    estimator.set_params(**dict.fromkeys(names, threads))


def predict(workspace: CellWorkspace, rows: list[dict[str, Any]], strict: bool = False) -> JsonValue:
    """Predict rows with the input `model`; return `computation_facts.PredictionFacts`.

    A cell that cannot be read is a missing value; if `strict`, it is refused before anything is computed.
    Raises InvalidInput `missing_columns`, `wrong_type`, `no_rows`, `present_value_missing`, or as `open_model`.
    """
    model = open_model(workspace, strict)
    predicted = model.predictions(_make_frame(rows))
    return to_json_facts(model.facts(len(predicted.predictions), predicted))


def _check_complete(output: np.ndarray, rows: pd.Index | pd.Series, problem: Problem) -> None:
    missing = np.flatnonzero(np.isnan(output) if output.ndim == 1 else np.isnan(output).any(axis=1))
    if len(missing):
        row = int(rows.to_numpy()[missing[0]])
        raise InvalidInput(
            "present_value_missing",
            f"A forecast starts from the current {problem.target!r}, which is missing in row {row}.",
            column=problem.target,
            row=row,
        )


def _without_distance(warning: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in warning.items() if key != DISTANCE}


def _make_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise InvalidInput("no_rows", "Send at least one row, each an object of column names and values.")
    return pd.DataFrame.from_records(json.loads(json.dumps(rows)))


def _numbers(output: np.ndarray, metadata: Mapping[str, Any], ahead: np.ndarray | None = None) -> pd.DataFrame:
    """A column `prediction`, with `low` and `high` of its interval if the model has intervals."""
    intervals = metadata.get("prediction_intervals")
    if intervals is None:
        return pd.DataFrame({"prediction": output})
    low, high = predict_interval(output, intervals, rows_ahead=ahead)
    return pd.DataFrame({"prediction": output, "low": low, "high": high})


def _classes(output: np.ndarray, problem: Problem, metadata: Mapping[str, Any]) -> pd.DataFrame:
    """A column `prediction`, and a calibrated `probability_` of each class."""
    classes, threshold = problem.written_classes, metadata.get("threshold")
    output = apply_calibration(output, metadata.get("calibration"))
    class_indices = output.argmax(axis=1)
    if problem.is_binary and threshold is not None:
        positive = problem.positive_index
        # The threshold was chosen on calibrated probabilities, so it comes after them.
        class_indices = np.where(output[:, positive] >= threshold, positive, 1 - positive)
    columns: dict[str, Any] = {"prediction": [classes[index] for index in class_indices]}
    columns |= {f"probability_{name}": output[:, index] for index, name in enumerate(classes)}
    return pd.DataFrame(columns)


def _prediction_json(record: dict[Any, Any], problem: Problem) -> dict[str, Any]:
    key_columns = (problem.group_column, problem.time_column, ROWS_AHEAD)
    prediction: dict[str, Any] = {
        name: to_json_scalar(record[name]) for name in key_columns if name and name in record
    }
    prediction["prediction"] = to_json_scalar(record["prediction"])
    if problem.is_classification:
        prediction["probabilities"] = {
            str(name): round(float(record[f"probability_{name}"]), 6) for name in problem.written_classes
        }
    prediction |= {bound: to_json_scalar(record[bound]) for bound in ("low", "high") if bound in record}
    return prediction
