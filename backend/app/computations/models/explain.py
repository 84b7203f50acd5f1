"""Explanation of the chosen model on the hold-out, after it was opened."""

from typing import Any

import numpy as np
import pandas as pd

from app.computations.cell_files.figure_files import write_figures
from app.computations.cell_files.frames import read_frame, read_model, to_json_facts
from app.computations.cell_files.workspace import CellWorkspace
from app.json_types import JsonValue
from app.modeling.explanation.contributions import Contributions
from app.modeling.explanation.explain import explain_predictions
from app.modeling.explanation.explained_model import ExplainedModel, looks_back
from app.modeling.explanation.tree_member import find_tree_member
from app.modeling.labels.labels import make_labels
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ORIGIN_ROW, ROWS_AHEAD, expand_horizon_rows
from app.modeling.recipe.recipe import select_inputs
from app.modeling.scoring.calibration import apply_calibration
from app.modeling.splits.unit_finding import find_units
from app.modeling.training.deadline import Deadline
from app.modeling.training.ensemble.average import Model, first_recipe, list_members
from app.modeling.training.fitting import predict_all
from app.modeling.training.schema import find_unused_columns
from app.reporting.figure_choice import explanation_figures


def explain_model(
    workspace: CellWorkspace,
    seed: int = 0,
    repeats: int = 5,
    limit_s: float | None = None,
    draw_s: float | None = None,
) -> JsonValue:
    """Explain a model on the hold-out; leaves figures; returns `explanation_facts.ExplanationFacts`.

    Inputs `holdout` and `model` (model.skops). A forecast of every step is explained at the middle step.
    `limit_s` bounds the time: rows and repeats are reduced, and the facts have their numbers. Without it they
    are fixed, so that equal inputs give equal facts. `draw_s`: seconds for figures.
    """
    holdout, stored = read_frame(workspace, "holdout"), read_model(workspace)
    problem = Problem.from_json(stored.metadata["problem"])
    # One step stands for all: each of them would take as long.
    if problem.every_step and problem.horizon:
        holdout = expand_horizon_rows(holdout, problem.horizon, [(problem.horizon + 1) // 2])
    labels = make_labels(holdout, problem).to_numpy()
    labelled = np.flatnonzero(~np.isnan(labels))
    inputs = select_inputs(holdout, problem).iloc[labelled].reset_index(drop=True)
    units = find_units(holdout.iloc[labelled], problem, stored.fit.folds.equal_rows_together)

    def predict(rows: pd.DataFrame) -> np.ndarray:
        output = predict_all(stored.pipeline, rows, problem, workspace.threads)
        return apply_calibration(output, stored.metadata.get("calibration"))

    # Shuffled or sampled rows would get lags of rows that are not before them.
    keeps_order = problem.every_step or looks_back(first_recipe(stored.pipeline).operations)
    subject = ExplainedModel(predict, problem, keeps_order)
    explanation = explain_predictions(
        subject,
        inputs,
        labels[labelled],
        lambda rows: find_tree_member(stored.pipeline, rows),
        stored.metadata,
        seed,
        repeats,
        Deadline(limit_s),
        sorted(_unused_columns(stored.pipeline)),
        units,
    )
    facts: dict[str, Any] = {**explanation.facts}
    points = _points(explanation.contributions)
    facts["figures"] = write_figures(
        workspace.output, explanation_figures(facts, problem.target, points), Deadline(draw_s)
    )
    return to_json_facts(facts)


def _unused_columns(model: Model) -> set[str]:
    """Raw columns that no member of the model uses, or that are constant over the explained rows."""
    unread = (find_unused_columns(part.named_steps["recipe"].operations) for part in list_members(model))
    return set.intersection(*unread) | {ROWS_AHEAD, ORIGIN_ROW}


def _points(shap: Contributions | None) -> tuple[list[Any], list[Any]] | None:
    return None if shap is None else (shap.values.tolist(), shap.numbers.tolist())
