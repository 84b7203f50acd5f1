"""Explain the chosen model on the hold-out, after it was opened: nothing is chosen any more."""

from typing import Any

import numpy as np
import pandas as pd

from app.computations.bench import Bench
from app.computations.frames import answer, read_frame, read_model
from app.computations.pictures import leave_pictures
from app.json_types import JsonValue
from app.modeling.explanation.contributions import Contributions
from app.modeling.explanation.explain import explain_predictions
from app.modeling.explanation.members import find_tree_member
from app.modeling.explanation.subject import Deadline, ExplainedModel, looks_back
from app.modeling.labels.labels import make_labels
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ORIGIN_ROW, ROWS_AHEAD, expand_horizon_rows
from app.modeling.recipe.recipe import select_inputs
from app.modeling.scoring.calibration import apply_calibration
from app.modeling.training.ensemble.average import Model, first_recipe, list_members
from app.modeling.training.fitting import predict_all
from app.modeling.training.schema import find_unused_columns
from app.reporting.figure_choice import explanation_figures


def explain_model(bench: Bench, seed: int = 0, repeats: int = 5, limit_s: float | None = None) -> JsonValue:
    """Inputs `holdout` and `model` (model.skops). Leaves figures; answers `explanation.facts.ExplanationFacts`.

    A forecast of every step is explained at the middle one.

    `limit_s` bounds the measuring: rows and repeats are cut, and the facts say how many there were. Without it
    they are fixed, so that equal inputs give equal facts.
    """
    holdout, stored = read_frame(bench, "holdout"), read_model(bench)
    problem = Problem.from_json(stored.metadata["problem"])
    if problem.every_step and problem.horizon:
        holdout = expand_horizon_rows(holdout, problem.horizon, [(problem.horizon + 1) // 2])
    labels = make_labels(holdout, problem).to_numpy()
    known = np.flatnonzero(~np.isnan(labels))
    inputs = select_inputs(holdout, problem).iloc[known].reset_index(drop=True)

    def say(rows: pd.DataFrame) -> np.ndarray:
        said = predict_all(stored.pipeline, rows, problem, bench.threads)
        return apply_calibration(said, stored.metadata.get("calibration"))

    in_order = problem.every_step or looks_back(first_recipe(stored.pipeline).operations)
    subject = ExplainedModel(say, problem, in_order)
    made = explain_predictions(
        subject,
        inputs,
        labels[known],
        lambda rows: find_tree_member(stored.pipeline, rows),
        stored.metadata,
        seed,
        repeats,
        Deadline(limit_s),
        sorted(_unread(stored.pipeline)),
    )
    facts: dict[str, Any] = {**made.facts}
    points = _points(made.contributions)
    facts["figures"] = leave_pictures(bench.output, explanation_figures(facts, problem.target, points))
    return answer(facts)


def _unread(model: Model) -> set[str]:
    """Raw columns that no part of the model looks at, or that say the same of every row that is explained."""
    unread = (find_unused_columns(part.named_steps["recipe"].operations) for part in list_members(model))
    return set.intersection(*unread) | {ROWS_AHEAD, ORIGIN_ROW}


def _points(made: Contributions | None) -> tuple[list[Any], list[Any]] | None:
    return None if made is None else (made.values.tolist(), made.numbers.tolist())
