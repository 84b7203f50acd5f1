"""Fitting of one candidate: a pipeline of recipe, encoder and estimator that takes raw rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import ThreadpoolController
from xgboost.core import XGBoostError

from app.errors import InvalidInput
from app.modeling.estimators.encoder import BLIND, Encoder
from app.modeling.estimators.estimator_catalog import get_estimator_spec, make_estimator
from app.modeling.estimators.families.learner import Learner
from app.modeling.estimators.families.lightgbm import LightGBMError
from app.modeling.labels.labels import present_value
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import RecipeJson, make_recipe
from app.modeling.training.chunked_predict import predict_in_chunks
from app.modeling.training.ensemble.average import Model, predict_output
from app.modeling.training.training_set import TrainingSet

# Made once, on import: inside a cell the sandbox hides the list of loaded libraries.
THREADS = ThreadpoolController()

MIN_SAMPLED_ROWS = 500
"""Rows that a share never goes below: fewer would save no time and cost the score."""


@dataclass(frozen=True)
class CandidateSpec:
    """A candidate to fit. `hyperparameters` override the estimator's defaults."""

    estimator: str
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)
    recipe: RecipeJson = field(default_factory=list)
    seed: int = 0
    threads: int = 1
    row_share: float = 1.0
    """Share of the training rows to fit on, to keep a time limit: the latest rows, or a random draw."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Hyperparameters that an earlier fit found by early stopping; with them there is no early stopping."""


def build_pipeline(problem: Problem, spec: CandidateSpec) -> Pipeline:
    """Build an unfitted pipeline that takes raw rows."""
    hyperparameters = {**spec.hyperparameters, **spec.settings}
    estimator, style = make_estimator(spec.estimator, problem, hyperparameters, spec.seed, spec.threads)
    return Pipeline(
        [
            ("recipe", make_recipe(problem, spec.recipe if style != BLIND else [])),
            ("encode", Encoder(style, in_order=problem.time_column is not None, seed=spec.seed)),
            ("estimator", estimator),
        ]
    )


def fit(data: TrainingSet, spec: CandidateSpec) -> Pipeline:
    """Fit a pipeline on every labelled row; all rows become its history."""
    return fit_rows(data, data.labelled_rows, spec)


def fit_rows(data: TrainingSet, rows: np.ndarray, spec: CandidateSpec) -> Pipeline:
    """Fit a pipeline on the rows at the positions `rows`; all rows become its history."""
    model = build_pipeline(data.problem, spec)
    rows = sample_rows(rows, data.problem, spec)
    weights = sample_weight_kwargs(model.named_steps["estimator"], data, rows)
    with THREADS.limit(limits=spec.threads), translate_fit_errors(spec):
        model.fit(
            data.inputs.iloc[rows],
            data.select_targets(rows),
            **{f"estimator__{name}": weight for name, weight in weights.items()},
        )
    model.named_steps["recipe"].store_history(data.inputs)
    return model


class translate_fit_errors:
    """Re-raise a library's error about a hyperparameter as InvalidInput `bad_hyperparameter`."""

    def __init__(self, spec: CandidateSpec) -> None:
        self._spec = spec

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, InvalidParameterError | XGBoostError | LightGBMError):
            message = str(error).strip().splitlines()[0]
            raise InvalidInput(
                "bad_hyperparameter", f"{self._spec.estimator} does not accept this: {message}"
            ) from error


def sample_weight_kwargs(estimator: Any, data: TrainingSet, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Make the keyword arguments that pass sample weights to the estimator's `fit`; empty if all are equal."""
    if data.weights is None:
        return {}
    if isinstance(estimator, Learner):
        return {"weights": data.weights[rows]}
    # An estimator that takes no weights learns from all rows alike rather than not at all.
    return {"sample_weight": data.weights[rows]} if has_fit_parameter(estimator, "sample_weight") else {}


def sample_rows(rows: np.ndarray, problem: Problem, spec: CandidateSpec) -> np.ndarray:
    """Select the row positions to fit on: the latest of a time series, else a random draw."""
    if spec.row_share >= 1:
        return rows
    count = max(int(len(rows) * spec.row_share), min(len(rows), MIN_SAMPLED_ROWS))
    # The latest rows are the most like those to be predicted.
    if problem.time_column:
        return rows[-count:]
    return np.sort(np.random.default_rng(spec.seed).permutation(rows)[:count])


def predict_all(model: Model, inputs: pd.DataFrame, problem: Problem, threads: int = 1) -> np.ndarray:
    """Predict probabilities of every class of the problem (rows, classes), or numbers (rows,)."""
    classes = len(problem.classes or ())
    with THREADS.limit(limits=threads):
        predictions = predict_in_chunks(model, inputs, lambda rows: predict_output(model, rows, classes))
    return add_present_value(predictions, inputs, problem)


def add_present_value(predictions: np.ndarray, inputs: pd.DataFrame, problem: Problem) -> np.ndarray:
    """Turn predicted differences into values by adding the current value; other predictions stay as they
    are."""
    start = present_value(inputs, problem)
    return predictions if start is None else predictions + start.to_numpy()


def greater_is_better(problem: Problem) -> bool:
    return METRICS[problem.metric].greater_is_better


def candidate_name(spec: CandidateSpec, problem: Problem) -> str:
    return get_estimator_spec(spec.estimator, problem.kind).name
