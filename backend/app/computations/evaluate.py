"""Judge candidates: out of fold while choosing, on the hold-out once at the end."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from app.computations.bench import Bench
from app.computations.frames import answer, read_frame, read_model, read_training, write_frame
from app.computations.pictures import leave_pictures
from app.json_types import JsonValue
from app.modeling.explanation import fold_importance
from app.modeling.forecasting.by_step import score_by_step
from app.modeling.forecasting.compare import compare_with_references
from app.modeling.forecasting.compare import reference_notes as unbeaten
from app.modeling.forecasting.references import forecast_references
from app.modeling.judging import comparison
from app.modeling.judging.evaluation import evaluate_predictions
from app.modeling.judging.paired_test import PairedBootstrap
from app.modeling.judging.periods import Past
from app.modeling.labels.labels import make_labels, prediction_targets
from app.modeling.labels.split import FoldPlan
from app.modeling.labels.split import make_folds as make_folds
from app.modeling.problem.kinds import BASELINE
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ROWS_AHEAD, get_rows_ahead, prediction_rows
from app.modeling.recipe.recipe import select_inputs
from app.modeling.scoring.calibration import apply_calibration
from app.modeling.scoring.scores import Predicted
from app.modeling.training.cross_validation import cross_validate
from app.modeling.training.fitting import CandidateSpec, predict_all
from app.modeling.training.fitting import fit as fit_on_all
from app.modeling.training.time_limits import threads_for
from app.reporting.figure_choice import comparison_figures, evaluation_figures, importance_figures


def evaluate_model(
    bench: Bench, problem: dict[str, Any], fit: dict[str, Any], folds: dict[str, Any], seed: int = 0
) -> JsonValue:
    """Inputs `frame` (RAW training frame) and `oof` (oof.parquet of the fit). `fit`: its `FitFacts`.

    Answers `results.EvaluationFacts` on out-of-fold rows; never sees the hold-out.
    """
    table, whole = read_training(bench, problem)
    frame = prediction_rows(table, whole)
    oof = read_frame(bench, "oof")
    predicted = _from_oof(oof, whole, fit)
    naive = cross_validate(
        frame, whole, CandidateSpec(BASELINE, seed=seed), make_folds(frame, whole, FoldPlan.from_json(folds))
    )
    rows = oof["row"].to_numpy()
    baseline = Predicted.from_problem(whole, naive.truth[rows], naive.output[rows])
    groups = frame[whole.group_column].iloc[rows] if whole.group_column else None
    ahead = None if ROWS_AHEAD not in oof else oof[ROWS_AHEAD].to_numpy()
    facts = evaluate_predictions(predicted, baseline, whole, "cross-validation", seed, fit, groups, ahead=ahead)
    facts["figures"] = leave_pictures(bench.output, evaluation_figures(facts, whole.target))
    return answer(facts)


def _from_oof(oof: pd.DataFrame, problem: Problem, fit: dict[str, Any]) -> Predicted:
    if not problem.is_classification:
        return Predicted.from_problem(problem, oof["truth"].to_numpy(), oof["prediction"].to_numpy())
    output = oof[[f"p_{place}" for place in range(len(problem.classes or ()))]].to_numpy()
    return _judged(problem, oof["truth"].to_numpy(), output, fit)


def _judged(problem: Problem, truth: np.ndarray, output: np.ndarray, fit: Mapping[str, Any]) -> Predicted:
    """A model's own word: calibrated, and chosen from its threshold on."""
    said = apply_calibration(output, fit.get("calibration")) if problem.is_classification else output
    return Predicted.from_problem(problem, truth, said, fit.get("threshold"))


def compare_models(
    bench: Bench,
    fits: list[dict[str, Any]],
    left_out: list[dict[str, str]] | None = None,
    problem: dict[str, Any] | None = None,
    seed: int = 0,
) -> JsonValue:
    """`fits`: `FitFacts`; `left_out`: `[{"name", "reason"}]`. Answers `results.ComparisonFacts`.

    Inputs oof_<place of fit>_<number>: oof.parquet of each part of a candidate. With them and the problem,
    differences are judged by rows, without them by folds.
    """
    apart = None
    if problem is not None and bench.inputs:
        apart = PairedBootstrap(
            {fit["name"]: _judged_rows(bench, place) for place, fit in enumerate(fits)},
            Problem.from_json(problem),
            seed,
        )
    facts = comparison.compare_candidates(fits, left_out or [], apart)
    facts["figures"] = leave_pictures(bench.output, comparison_figures(facts, fits))
    return answer(facts)


def _judged_rows(bench: Bench, place: int) -> pd.DataFrame:
    """What all parts of a candidate say, by row; the mean where several judged one."""
    parts = [path for name, path in bench.inputs.items() if name.startswith(f"oof_{place}_")]
    together = pd.concat([pd.read_parquet(path) for path in parts]).set_index("row")
    return together if together.index.is_unique else together.groupby(level="row").mean()


def feature_importance(
    bench: Bench,
    problem: dict[str, Any],
    estimator: str,
    folds: dict[str, Any],
    recipe: list[dict[str, Any]] | None = None,
    hyperparameters: dict[str, Any] | None = None,
    seed: int = 0,
    repeats: int = 5,
) -> JsonValue:
    """Input `frame`: the RAW training frame. Permutation importance out of fold; answers `ImportanceFacts`."""
    frame, whole = read_training(bench, problem)
    whole = replace(whole, every_step=False)  # what matters, by the farthest step
    spec = CandidateSpec(
        estimator, hyperparameters or {}, recipe or [], seed, threads_for(frame, bench.threads)
    )
    made = make_folds(frame, whole, FoldPlan.from_json(folds))
    facts = fold_importance.importance_on_fold(frame, whole, spec, made, repeats)
    facts["figures"] = leave_pictures(bench.output, importance_figures(facts))
    return answer(facts)


def questions_of_holdout(bench: Bench, problem: dict[str, Any]) -> JsonValue:
    """Input `holdout`. Leaves questions.parquet: what a model may see of it, so not the answers."""
    whole = Problem.from_json(problem)
    asked = select_inputs(prediction_rows(read_frame(bench, "holdout"), whole), whole)
    write_frame(bench, asked, "questions.parquet")
    return {"rows": len(asked)}


def answers_of_model(bench: Bench) -> JsonValue:
    """Inputs `questions` and `model`. Leaves answers.parquet, a column for each class or one of numbers.

    For a model with code that an agent wrote: that never runs where the hold-out's answers are.
    """
    questions, stored = read_frame(bench, "questions"), read_model(bench)
    whole = Problem.from_json(stored.metadata["problem"])
    said = predict_all(stored.pipeline, questions, whole, bench.threads)
    table = pd.DataFrame(said.reshape(len(questions), -1))
    write_frame(bench, table.rename(columns="p_{}".format), "answers.parquet")
    return {"rows": len(questions)}


def final_evaluation(bench: Bench, seed: int = 0, fit: dict[str, Any] | None = None) -> JsonValue:
    """Inputs `train` (RAW training frame), `holdout` and `model` (model.skops of the chosen fit).

    Problem, threshold and cross-validated score come from the model's own metadata. Opens the hold-out, once.
    Instead of `model` there may be its `answers` (`answers_of_model`) with its `FitFacts` in `fit`.
    Answers `results.EvaluationFacts`.
    """
    train = read_frame(bench, "train")
    metadata = fit if fit is not None else read_model(bench).metadata
    whole = Problem.from_json(metadata["problem"])
    holdout = prediction_rows(read_frame(bench, "holdout"), whole)
    naive = fit_on_all(train, whole, CandidateSpec(BASELINE, seed=seed))
    labels = make_labels(holdout, whole).to_numpy()
    known = np.flatnonzero(~np.isnan(labels))
    inputs = select_inputs(holdout, whole)
    said = _answers(bench, inputs, whole)[known]
    naive_said = predict_all(naive, inputs, whole, bench.threads)[known]
    predicted = _judged(whole, labels[known], said, metadata)
    baseline = Predicted.from_problem(whole, labels[known], naive_said)
    groups = holdout[whole.group_column].iloc[known] if whole.group_column else None
    ahead = get_rows_ahead(holdout)
    past = _past(prediction_rows(train, whole), whole, metadata) if whole.time_column else None
    facts = evaluate_predictions(
        predicted,
        baseline,
        whole,
        "hold-out",
        seed,
        metadata,
        groups,
        compare=True,
        past=past,
        targets=prediction_targets(holdout, whole)[known],
        ahead=None if ahead is None else ahead[known],
    )
    said_without = {name: each[known] for name, each in forecast_references(train, holdout, whole).items()}
    facts["references"] = compare_with_references(predicted, said_without, whole, seed, groups)
    facts["notes"] += unbeaten(facts["references"])
    if ahead is not None:
        bounds = metadata.get("prediction_intervals")
        facts["by_step"] = score_by_step(predicted, baseline, ahead[known], whole, bounds, said_without)
    facts["figures"] = leave_pictures(bench.output, evaluation_figures(facts, whole.target))
    return answer(facts)


def _answers(bench: Bench, inputs: pd.DataFrame, problem: Problem) -> np.ndarray:
    if "answers" not in bench.inputs:
        return predict_all(read_model(bench).pipeline, inputs, problem, bench.threads)
    said = read_frame(bench, "answers").to_numpy(dtype="float64")
    return said if problem.is_classification else said[:, 0]


def _past(train: pd.DataFrame, problem: Problem, fit: Mapping[str, Any]) -> Past:
    """What was to be told before the hold-out, and how well the folds told it that learned from half of it."""
    targets = prediction_targets(train, problem)
    known = np.isfinite(targets)
    made = make_folds(train, problem, FoldPlan.from_json(fit["folds"]))
    scores = list(fit.get("fold_scores") or ())
    folds = [
        (float(score), targets[fold.test])
        for score, fold in zip(scores, made, strict=False)
        if score is not None and len(fold.train) >= known.sum() / 2
    ]
    return Past(targets[known], tuple(folds))
