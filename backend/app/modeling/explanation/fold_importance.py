"""Permutation importance of raw columns for a candidate, out of fold, before a model is chosen."""

import numpy as np
import pandas as pd

from app.modeling.explanation.explained_model import ExplainedModel, looks_back
from app.modeling.explanation.importance import permutation_importance
from app.modeling.facts.computation_facts import ImportanceFacts
from app.modeling.problem.problem import Problem
from app.modeling.splits.unit_finding import find_units
from app.modeling.training.deadline import Deadline
from app.modeling.training.fitting import CandidateSpec, fit_rows, predict_all
from app.modeling.training.training_set import TrainingSet


def importance_on_fold(
    data: TrainingSet,
    spec: CandidateSpec,
    repeats: int = 5,
    limit_s: float | None = None,
) -> ImportanceFacts:
    """Compute the importance of raw columns on the rows of the last fold, of a model fitted on the others."""
    deadline = Deadline(limit_s)
    inputs, problem, fold = data.inputs, data.problem, data.folds[-1]
    model = fit_rows(data, fold.train, spec)
    if fold.history is not None:
        model.named_steps["recipe"].store_history(inputs.iloc[fold.history])

    def predict(rows: pd.DataFrame) -> np.ndarray:
        return predict_all(model, rows, problem, spec.threads)

    subject = ExplainedModel(predict, problem, looks_back(spec.recipe))
    rows, truth = inputs.iloc[fold.test], data.labels.iloc[fold.test].to_numpy()
    columns, units = list_shuffled_columns(inputs, problem), find_units(data.frame.iloc[fold.test], problem)
    return permutation_importance(
        subject, rows, truth, columns, repeats, spec.seed, deadline.within(1.0), units
    )


def list_shuffled_columns(inputs: pd.DataFrame, problem: Problem) -> list[str]:
    """List the columns to shuffle: all that do not only order or group the rows."""
    fixed = {problem.time_column, problem.group_column}
    return [str(name) for name in inputs.columns if name not in fixed]
