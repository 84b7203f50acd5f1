"""Evaluation of candidates: out of fold during selection, and once on the hold-out at the end."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from app.computations.cell_files.figure_files import write_figures
from app.computations.cell_files.frames import read_frame, read_model, read_training, to_json_facts, write_frame
from app.computations.cell_files.workspace import CellWorkspace
from app.json_types import JsonValue
from app.modeling.evaluation import comparison
from app.modeling.evaluation.column_references import predict_by_columns
from app.modeling.evaluation.error_slices import find_error_slices, row_errors
from app.modeling.evaluation.evaluate_predictions import evaluate_predictions
from app.modeling.evaluation.holdout_outputs import make_outputs
from app.modeling.evaluation.methods_evaluation import evaluate_methods, predict_by_methods
from app.modeling.evaluation.paired_test import PairedBootstrap
from app.modeling.evaluation.single_periods import find_past
from app.modeling.explanation import fold_importance
from app.modeling.facts.computation_facts import ColumnReference, Interval
from app.modeling.facts.fits import CandidateFit
from app.modeling.forecasting.reference_comparison import (
    compare_with_predictions,
    compare_with_references,
    recommend,
    reference_notes,
)
from app.modeling.forecasting.reference_forecasts import forecast_references
from app.modeling.forecasting.step_scores import score_by_step
from app.modeling.labels.labels import make_labels, prediction_targets
from app.modeling.problem.folds import FoldPlan
from app.modeling.problem.kinds import BASELINE
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ROWS_AHEAD, get_rows_ahead, prediction_rows
from app.modeling.recipe.recipe import select_inputs
from app.modeling.scoring.calibration import apply_calibration
from app.modeling.scoring.family_intervals import confidence_level, widen_for_looks
from app.modeling.scoring.independent_units import IndependentUnits
from app.modeling.scoring.scores import Predicted
from app.modeling.scoring.thresholds import choose_threshold, cross_fit_thresholds, threshold_aim
from app.modeling.splits.unit_finding import find_units
from app.modeling.training import fitting
from app.modeling.training.cross_validation import cross_validate
from app.modeling.training.deadline import Deadline
from app.modeling.training.fitting import CandidateSpec, predict_all
from app.modeling.training.time_limits import threads_for
from app.modeling.training.training_set import TrainingSet
from app.reporting.figure_choice import comparison_figures, evaluation_figures, importance_figures

OUTPUTS_FILE = "holdout_outputs.parquet"
ERRORS_FILE = "errors.parquet"


def evaluate_model(
    workspace: CellWorkspace,
    problem: dict[str, Any],
    fit: dict[str, Any],
    folds: dict[str, Any],
    seed: int = 0,
    draw_s: float | None = None,
) -> JsonValue:
    """Evaluate a fit on its out-of-fold rows; the hold-out is not used.

    Inputs `frame` (RAW training frame) and oof_0_<number> (oof.parquet of each part of the candidate). `fit`:
    its `FitFacts`, merged of its parts. Leaves `errors.parquet`, the rows with their out-of-fold output and
    error. Returns `computation_facts.EvaluationFacts` and `slices`, the `ErrorSlice`s. `draw_s`: seconds for
    figures.
    """
    table, parsed_problem = read_training(workspace, problem)
    frame = prediction_rows(table, parsed_problem)
    data = TrainingSet.from_frame(frame, parsed_problem, FoldPlan.from_json(folds))
    oof, candidate = _read_oof_parts(workspace, 0).reset_index(), CandidateFit.from_json(fit)
    predicted = _from_oof(oof, parsed_problem, candidate)
    # On the same folds: a mean of all rows would know the rows that it is judged on.
    naive = cross_validate(data, CandidateSpec(BASELINE, seed=seed))
    rows = oof["row"].to_numpy()
    baseline = cross_fit_thresholds(parsed_problem, naive.truth[rows], naive.output[rows], naive.fold[rows])
    units = find_units(frame.iloc[rows], parsed_problem, candidate.folds.equal_rows_together)
    ahead = None if ROWS_AHEAD not in oof else oof[ROWS_AHEAD].to_numpy()
    facts = evaluate_predictions(
        predicted, baseline, parsed_problem, "cross-validation", seed, candidate, units, ahead=ahead
    )
    facts["figures"] = write_figures(
        workspace.output, evaluation_figures(facts, parsed_problem.target), Deadline(draw_s)
    )
    inputs = select_inputs(frame.iloc[rows], parsed_problem).reset_index(drop=True)
    errors = row_errors(predicted)
    _write_errors(workspace, inputs, predicted, errors)
    return {**to_json_facts(facts), "slices": to_json_facts(find_error_slices(inputs, errors, units))}


def _write_errors(
    workspace: CellWorkspace, inputs: pd.DataFrame, predicted: Predicted, errors: np.ndarray
) -> None:
    """Write the inputs with truth and output of each row, whose names no column of the table may have."""
    outputs = make_outputs(predicted, np.arange(len(inputs))).assign(error=errors)
    columns = {str(name) for name in inputs.columns}
    names = {name: f"out_of_fold_{name}" if name in columns else name for name in outputs.columns}
    write_frame(workspace, pd.concat([inputs, outputs.rename(columns=names)], axis=1), ERRORS_FILE)


def _from_oof(oof: pd.DataFrame, problem: Problem, fit: CandidateFit) -> Predicted:
    # Numbers have no calibration and no threshold.
    if not problem.is_classification:
        return Predicted.from_problem(problem, oof["truth"].to_numpy(), oof["prediction"].to_numpy())
    output = oof[[f"p_{place}" for place in range(len(problem.classes or ()))]].to_numpy()
    return _make_predicted(problem, oof["truth"].to_numpy(), output, fit)


def _make_predicted(problem: Problem, truth: np.ndarray, output: np.ndarray, fit: CandidateFit) -> Predicted:
    """Calibrate a model's output and apply its threshold."""
    calibrated = apply_calibration(output, fit.calibration) if problem.is_classification else output
    return Predicted.from_problem(problem, truth, calibrated, fit.threshold)


def compare_models(
    workspace: CellWorkspace,
    fits: list[dict[str, Any]],
    left_out: list[dict[str, str]] | None = None,
    problem: dict[str, Any] | None = None,
    seed: int = 0,
    draw_s: float | None = None,
) -> JsonValue:
    """Compare candidates; return `computation_facts.ComparisonFacts`.

    `fits`: `FitFacts`; `left_out`: `[{"name", "reason"}]`. Inputs oof_<index of fit>_<number>: oof.parquet of
    each part of a candidate, and `frame`, the RAW training frame, which tells the units of rows. With them and
    the problem differences are tested by rows, without them by folds.
    `draw_s`: seconds for figures; None: all are drawn.
    """
    difference, candidates = None, [CandidateFit.from_json(fit) for fit in fits]
    if problem is not None and workspace.inputs:
        difference = PairedBootstrap(
            {fit.name: _read_oof_parts(workspace, number) for number, fit in enumerate(candidates)},
            Problem.from_json(problem),
            seed,
            _find_training_units(workspace, problem, candidates[0].folds),
        )
    facts = comparison.compare_candidates(candidates, left_out or [], difference)
    facts["figures"] = write_figures(workspace.output, comparison_figures(facts, fits), Deadline(draw_s))
    return to_json_facts(facts)


def _find_training_units(
    workspace: CellWorkspace, problem: dict[str, Any], plan: FoldPlan
) -> IndependentUnits | None:
    """Find the units of all training rows; None without the frame, as in calls of former versions."""
    if "frame" not in workspace.inputs:
        return None
    table, parsed_problem = read_training(workspace, problem)
    return find_units(prediction_rows(table, parsed_problem), parsed_problem, plan.equal_rows_together)


def _read_oof_parts(workspace: CellWorkspace, number: int) -> pd.DataFrame:
    """Out-of-fold predictions of all parts of a candidate, by row; the mean of several."""
    # With the final underscore, or `oof_1` would match `oof_10_0`.
    parts = [path for name, path in workspace.inputs.items() if name.startswith(f"oof_{number}_")]
    oof = pd.concat([pd.read_parquet(path) for path in parts]).set_index("row")
    return oof if oof.index.is_unique else oof.groupby(level="row").mean()


def feature_importance(
    workspace: CellWorkspace,
    problem: dict[str, Any],
    estimator: str,
    folds: dict[str, Any],
    recipe: list[dict[str, Any]] | None = None,
    hyperparameters: dict[str, Any] | None = None,
    seed: int = 0,
    repeats: int = 5,
) -> JsonValue:
    """Compute permutation importance out of fold; return `ImportanceFacts`.

    Input `frame`: the RAW training frame.
    """
    frame, parsed_problem = read_training(workspace, problem)
    parsed_problem = replace(parsed_problem, every_step=False)  # the importance for the farthest step
    spec = CandidateSpec(
        estimator, hyperparameters or {}, recipe or [], seed, threads_for(frame, workspace.threads)
    )
    data = TrainingSet.from_frame(frame, parsed_problem, FoldPlan.from_json(folds))
    facts = fold_importance.importance_on_fold(data, spec, repeats)
    facts["figures"] = write_figures(workspace.output, importance_figures(facts))
    return to_json_facts(facts)


def questions_of_holdout(workspace: CellWorkspace, problem: dict[str, Any]) -> JsonValue:
    """Write questions.parquet: the inputs of the hold-out, without its labels. Input `holdout`."""
    parsed_problem = Problem.from_json(problem)
    questions = select_inputs(prediction_rows(read_frame(workspace, "holdout"), parsed_problem), parsed_problem)
    write_frame(workspace, questions, "questions.parquet")
    return {"rows": len(questions)}


def answers_of_model(workspace: CellWorkspace) -> JsonValue:
    """Predict `questions` with `model`; write answers.parquet, a column per class or one of numbers.

    Used for models with agent-written code, which must never run where the hold-out's labels are.
    """
    questions, stored = read_frame(workspace, "questions"), read_model(workspace)
    parsed_problem = Problem.from_json(stored.fit.problem)
    predictions = predict_all(stored.pipeline, questions, parsed_problem, workspace.threads)
    table = pd.DataFrame(predictions.reshape(len(questions), -1))
    write_frame(workspace, table.rename(columns="p_{}".format), "answers.parquet")
    return {"rows": len(questions)}


def final_evaluation(
    workspace: CellWorkspace,
    seed: int = 0,
    fit: dict[str, Any] | None = None,
    look: dict[str, Any] | None = None,
    draw_s: float | None = None,
    references: Sequence[ColumnReference] = (),
) -> JsonValue:
    """Evaluate the chosen model on the hold-out, once; return `computation_facts.EvaluationFacts`.

    Leaves holdout_outputs.parquet, which `modeling.evaluation.holdout_outputs` describes.
    Inputs `train` (RAW training frame), `holdout` and `model` (model.skops of the chosen fit). Problem,
    threshold and cross-validated score come from the model's metadata. Instead of `model` there may be its
    `answers` (`answers_of_model`) with its `FitFacts` in `fit`. `look`: the look at the hold-out, as
    `sessions.holdout_looks` numbers it; None for a first one. `draw_s`: seconds for figures.
    `references`: predictions by one column that the model is compared with, where it forecasts no series.
    """
    train = read_frame(workspace, "train")
    chosen = CandidateFit.from_json(fit) if fit is not None else read_model(workspace).fit
    parsed_problem = Problem.from_json(chosen.problem)
    holdout = prediction_rows(read_frame(workspace, "holdout"), parsed_problem)
    # Fitted on the training rows as the model was: the mean of the hold-out is not known in advance.
    training_data = TrainingSet.from_frame(train, parsed_problem)
    naive = fitting.fit(training_data, CandidateSpec(BASELINE, seed=seed))
    labels = make_labels(holdout, parsed_problem).to_numpy()
    labelled = np.flatnonzero(~np.isnan(labels))
    inputs = select_inputs(holdout, parsed_problem)
    # All rows are predicted, since lags of a labelled row may reach into one without a label.
    predictions = _predict_or_read(workspace, inputs, parsed_problem)[labelled]
    naive_predictions = predict_all(naive, inputs, parsed_problem, workspace.threads)[labelled]
    predicted = _make_predicted(parsed_problem, labels[labelled], predictions, chosen)
    baseline = Predicted.from_problem(
        parsed_problem, labels[labelled], naive_predictions, _naive_threshold(training_data, naive_predictions)
    )
    units = find_units(holdout.iloc[labelled], parsed_problem, chosen.folds.equal_rows_together)
    ahead = get_rows_ahead(holdout)
    past = None
    if parsed_problem.time_column:
        past = find_past(prediction_rows(train, parsed_problem), chosen, holdout.iloc[labelled], units)
    targets = prediction_targets(holdout, parsed_problem)[labelled]
    looks = look["number"] if look else 1
    facts = evaluate_predictions(
        predicted,
        baseline,
        parsed_problem,
        "hold-out",
        seed,
        chosen,
        units,
        compare=True,
        past=past,
        targets=targets,
        ahead=None if ahead is None else ahead[labelled],
        looks=looks,
    )
    if look and look["number"] > 1:
        facts["family"] = _describe_family(look)
    forecasts = forecast_references(train, holdout, parsed_problem).take(labelled)
    facts["references"] = compare_with_references(predicted, forecasts.forecasts, parsed_problem, seed, units)
    if references:
        by_columns = predict_by_columns(train, holdout, parsed_problem, references)
        facts["references"] += compare_with_predictions(predicted, by_columns, parsed_problem, seed, units)
    facts["recommended"] = recommend(facts["references"], chosen.name, parsed_problem)
    if facts["recommended"]["is_model"]:
        delivered = predicted
        noun = "forecast" if parsed_problem.horizon else "prediction"
        # Where the methods make the forecast, it is no caution that the model does not beat them.
        facts["notes"] += reference_notes(facts["references"], noun)
    else:
        delivered = predict_by_methods(predicted.truth, forecasts, parsed_problem)
        facts["methods"] = evaluate_methods(
            delivered, forecasts, baseline, parsed_problem, seed, units, past, targets, looks
        )
    # Sessions are compared by what they deliver.
    write_frame(workspace, make_outputs(delivered, labelled), OUTPUTS_FILE)
    if ahead is not None:
        facts["by_step"] = score_by_step(
            predicted,
            baseline,
            ahead[labelled],
            parsed_problem,
            chosen.prediction_intervals,
            forecasts.forecasts,
            units,
        )
    facts["figures"] = write_figures(
        workspace.output, evaluation_figures(facts, parsed_problem.target), Deadline(draw_s)
    )
    return to_json_facts(facts)


def _naive_threshold(training_data: TrainingSet, naive_predictions: np.ndarray) -> float | None:
    """The threshold that is best for the naive model on its training rows; None without two classes.

    At any other one it would be easier to beat: a rare class that it never predicts has an F1 of 0.
    """
    problem = training_data.problem
    if not problem.is_binary:
        return None
    truth = training_data.labels.dropna().to_numpy()
    # It predicts the same for every row.
    predicted = Predicted.from_problem(problem, truth, np.repeat(naive_predictions[:1], len(truth), axis=0))
    return choose_threshold(predicted, threshold_aim(problem), problem.costs)["value"]


def _describe_family(look: Mapping[str, Any]) -> dict[str, Any]:
    """Return the looks of the family, and the scores of its other members at the level of this look."""
    looks = look["number"]
    siblings = []
    for sibling in look["siblings"]:
        score: Interval = {"value": sibling["value"], "low": sibling["low"], "high": sibling["high"]}
        about = {name: sibling[name] for name in ("session", "change", "metric", "rows")}
        siblings.append({**about, **widen_for_looks(score, looks, sibling["metric"], sibling["looks"])})
    return {
        "looks": looks,
        "level": confidence_level(looks),
        "forks_after_look": look["forks_after_look"],
        "siblings": siblings,
    }


def _predict_or_read(workspace: CellWorkspace, inputs: pd.DataFrame, problem: Problem) -> np.ndarray:
    if "answers" not in workspace.inputs:
        return predict_all(read_model(workspace).pipeline, inputs, problem, workspace.threads)
    predictions = read_frame(workspace, "answers").to_numpy(dtype="float64")
    return predictions if problem.is_classification else predictions[:, 0]
