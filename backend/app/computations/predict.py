"""Predict rows that were never seen."""

import json
from typing import Any

import numpy as np
import pandas as pd

from app.computations.bench import Bench, JsonValue
from app.computations.frames import answer, read_frame, read_model, write_frame
from app.errors import InvalidInput
from app.modeling.ensemble.average import recipe_of
from app.modeling.fitting import output_of
from app.modeling.plain import scalar
from app.modeling.problem import Problem
from app.modeling.results import PredictionFacts
from app.modeling.schema import conform, gap_in_time

MOST_ANSWERED = 1000


def predict(bench: Bench, rows: list[dict[str, Any]] | None = None) -> JsonValue:
    """Inputs `model` (model.skops) and, unless `rows` are given as JSON, `table` (Parquet).

    Leaves predictions.parquet; answers `results.PredictionFacts`. Raises InvalidInput `missing_columns`,
    `wrong_type`, `no_rows`, `present_value_missing`, `untrusted_model`, `bad_model`.
    """
    stored = read_model(bench)
    problem = Problem.from_json(stored.metadata["problem"])
    given = _given(bench, rows)
    inputs, warnings = conform(given, stored.metadata["schema"], problem.reading)
    warnings += gap_in_time(inputs, recipe_of(stored.pipeline))
    output = output_of(stored.pipeline, inputs, problem, bench.threads)
    _check_said(output, problem)
    predictions = _in_words(output, problem, stored.metadata.get("threshold"))
    write_frame(bench, predictions, "predictions.parquet")
    facts: PredictionFacts = {
        "rows": len(predictions),
        "predictions": [_row(record, problem) for record in predictions.head(MOST_ANSWERED).to_dict("records")],
        "warnings": warnings,
    }
    return answer(facts)


def _check_said(output: np.ndarray, problem: Problem) -> None:
    silent = np.flatnonzero(np.isnan(output) if output.ndim == 1 else np.isnan(output).any(axis=1))
    if len(silent):
        raise InvalidInput(
            "present_value_missing",
            f"A forecast starts from the present {problem.target!r}, which row {silent[0]} does not have.",
            column=problem.target,
            row=int(silent[0]),
        )


def _given(bench: Bench, rows: list[dict[str, Any]] | None) -> pd.DataFrame:
    if rows is None:
        return read_frame(bench, "table")
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise InvalidInput("no_rows", "Give at least one row, each an object of column names and values.")
    return pd.DataFrame.from_records(json.loads(json.dumps(rows)))


def _in_words(output: np.ndarray, problem: Problem, threshold: float | None) -> pd.DataFrame:
    if not problem.is_classification:
        return pd.DataFrame({"prediction": output})
    classes = problem.classes or ()
    chosen = output.argmax(axis=1)
    if problem.is_binary and threshold is not None:
        positive = problem.positive_index
        chosen = np.where(output[:, positive] >= threshold, positive, 1 - positive)
    columns: dict[str, Any] = {"prediction": [classes[place] for place in chosen]}
    columns |= {f"probability_{name}": output[:, place] for place, name in enumerate(classes)}
    return pd.DataFrame(columns)


def _row(record: dict[Any, Any], problem: Problem) -> dict[str, Any]:
    made: dict[str, Any] = {"prediction": scalar(record["prediction"])}
    if problem.is_classification:
        made["probabilities"] = {
            str(name): round(float(record[f"probability_{name}"]), 6) for name in problem.classes or ()
        }
    return made
