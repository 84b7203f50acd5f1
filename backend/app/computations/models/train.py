"""Fit one candidate, or a part of it; blend fitted parts; refit a model; propose candidates."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from app.computations.cell_files.frames import read_frame, read_training, to_json_facts, write_frame
from app.computations.cell_files.workspace import CellWorkspace
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.modeling.analysis.recipe_effects import normalize_recipe
from app.modeling.facts.computation_facts import FitFacts
from app.modeling.facts.conversion import parse_facts
from app.modeling.facts.fits import CandidateFit, FittedSpec
from app.modeling.problem.folds import FoldPlan
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import get_rows_ahead, prediction_rows
from app.modeling.scoring.postprocess import POSTPROCESS_KEYS, postprocess
from app.modeling.scoring.prediction_intervals import widen_intervals
from app.modeling.table.json_values import round_significant
from app.modeling.training.blending.blend import blend_candidates, make_oof_table
from app.modeling.training.blending.refit import refit_on_all_rows
from app.modeling.training.cross_validation import CrossValidated, cross_validate, final_model
from app.modeling.training.ensemble.average import (
    ByEntityClassifier,
    ByEntityRegressor,
    Model,
    count_features,
)
from app.modeling.training.fitting import CandidateSpec, candidate_name, fit, greater_is_better
from app.modeling.training.persistence import StoredModel, deserialize_model, library_versions, serialize_model
from app.modeling.training.schema import infer_schema
from app.modeling.training.time_limits import describe_rows, reduce_to_limit, slowness, threads_for
from app.modeling.training.training_set import TrainingSet
from app.modeling.training.tuning import enumerate_grid, propose_hyperparameters
from app.modeling.training.value_ranges import JUDGED_AHEAD, judged_ahead

MIN_WORKING_S = 0.1
"""Seconds to fit in if reading the rows took all of the limit: the rows are then as few as may be."""
WRITING_S = 0.25
"""Part of a time limit that is reserved for reading rows and writing the model."""
MIN_FOLDS_S = 0.5
"""Seconds that folds get although the limit has passed: without a score the fit was for nothing."""


def fit_candidate(
    workspace: CellWorkspace,
    problem: dict[str, Any],
    estimator: str,
    folds: dict[str, Any],
    recipe: list[dict[str, Any]] | None = None,
    hyperparameters: dict[str, Any] | None = None,
    name: str | None = None,
    seed: int = 0,
    time_limit_s: float | None = None,
    run: list[int] | None = None,
    settings: dict[str, Any] | None = None,
) -> JsonValue:
    """Fit a candidate on the input `frame`, the RAW training frame.

    Leaves model.skops and oof.parquet; returns `computation_facts.FitFacts`. `estimator`: a name of
    `estimator_catalog.ESTIMATORS`. `folds`: as `split_table` returns them. `run`: the folds to fit, all if
    None; an empty list fits on all rows without scores. `settings`: those returned for an earlier part of this
    candidate; with them nothing depends on time or early stopping. Raises InvalidInput `unknown_estimator`,
    `bad_hyperparameter`, `bad_recipe`, `bad_run`, `too_little_data`.
    """
    clock = _Clock(time_limit_s)
    table, parsed_problem = read_training(workspace, problem)
    plan = FoldPlan.from_json(folds)
    data = TrainingSet.from_frame(prediction_rows(table, parsed_problem), parsed_problem, plan)
    given_settings = dict(settings or {})
    requested = CandidateSpec(
        estimator,
        hyperparameters or {},
        normalize_recipe(recipe or []),
        seed,
        threads_for(data.frame, workspace.threads),
        row_share=float(given_settings.pop("row_share", 1.0)),
        settings=given_settings,
    )
    # Settings of an earlier part fix its rows too: parts of one candidate must not differ in them.
    spec, validated, limited = _validate_in_time(
        workspace, data, requested, _fold_numbers(run, len(data.folds)), clock, may_reduce=settings is None
    )
    model = final_model(data, spec, validated) if validated.run else fit(data, spec)
    ahead = get_rows_ahead(data.frame)
    facts: FitFacts = {
        **_describe_candidate(spec, parsed_problem, validated),  # type: ignore[typeddict-item]  # its own keys
        **_describe_scores(validated, parsed_problem, len(data.folds)),
        **_postprocess(validated, parsed_problem, seed, ahead),
        "name": name or candidate_name(spec, parsed_problem),
        "features": count_features(model),
        "fit_s": round_significant(clock.elapsed_s(), 4) or 0.0,
        "threads": workspace.threads,
        "folds": plan.to_json(),
        "limited": limited,
        # Of the table: rows to predict have no step ahead, which expanded rows have.
        "schema": infer_schema(table, parsed_problem, spec.recipe),
        "versions": library_versions(),
    }
    _write_fit(workspace, model, facts, _oof(validated, ahead))
    return to_json_facts(facts)


class _Clock:
    """The time of one fit, in seconds; its processor time tells how slow the machine is."""

    def __init__(self, limit_s: float | None) -> None:
        self._limit_s = limit_s
        self._started, self._cpu_started = time.perf_counter(), time.process_time()

    def elapsed_s(self) -> float:
        return time.perf_counter() - self._started

    def left_to_plan_s(self) -> float | None:
        """Seconds of a machine that does nothing else; None without a limit."""
        if self._limit_s is None:
            return None
        left_s = max(self._limit_s - self.elapsed_s(), MIN_WORKING_S)
        # Costs were measured on an idle machine: one that others use has fewer of its seconds left.
        return left_s / slowness(self._started, self._cpu_started)

    def left_for_folds_s(self) -> float | None:
        if self._limit_s is None:
            return None
        return max(self._limit_s - WRITING_S - self.elapsed_s(), MIN_FOLDS_S)


def _validate_in_time(
    workspace: CellWorkspace,
    data: TrainingSet,
    requested: CandidateSpec,
    fold_numbers: list[int],
    clock: _Clock,
    *,
    may_reduce: bool,
) -> tuple[CandidateSpec, CrossValidated, str | None]:
    """Cross-validate within the time left; return what was fitted, its scores and the reduction in words."""
    folds = [data.folds[number] for number in fold_numbers]
    # Before any fold: a fit that is sized to its time gives all folds the same rows.
    spec, limited = reduce_to_limit(data, requested, folds, clock.left_to_plan_s())
    validated = cross_validate(
        data,
        spec,
        lambda done: workspace.report(done, "folds"),
        fold_numbers,
        clock.left_for_folds_s(),
        may_reduce=may_reduce,
    )
    # The estimate was too high, as the first fold showed.
    if fold_numbers and validated.row_share < spec.row_share:
        spec = replace(spec, row_share=validated.row_share)
        limited = describe_rows(spec.row_share, data)
    if validated.is_cut:
        limited = "Cut by its time limit while its loss still fell."
    return spec, validated, limited


def _describe_candidate(spec: CandidateSpec, problem: Problem, validated: CrossValidated) -> dict[str, Any]:
    row_share = {"row_share": spec.row_share} if spec.row_share < 1 else {}
    return {
        "estimator": candidate_name(spec, problem),
        "hyperparameters": dict(spec.hyperparameters),
        "recipe": spec.recipe,
        "settings": {**spec.settings, **validated.settings, **row_share},
        "learned_share": spec.row_share,
        "problem": problem.to_json(),
    }


def _describe_scores(validated: CrossValidated, problem: Problem, fold_count: int) -> dict[str, Any]:
    return {
        "metric": problem.metric,
        "greater_is_better": greater_is_better(problem),
        "score": validated.mean(problem.metric),
        "std": validated.std(problem.metric),
        "fold_scores": _by_fold(validated, problem.metric, fold_count),
        "metrics": validated.summary(),
        "rows": int((~pd.isna(validated.truth)).sum()),
        "fold_s": validated.fold_s,
        "run": validated.run,
        "fold_count": len(validated.run),
        "is_cut": validated.is_cut,
    }


def blend(
    workspace: CellWorkspace,
    problem: dict[str, Any],
    folds: dict[str, Any],
    fits: list[dict[str, Any]],
    seed: int = 0,
    name: str = "Ensemble",
) -> JsonValue:
    """Blend the parts whose `FitFacts` are `fits`, with inputs model_0, oof_0, model_1, oof_1, ... in that
    order.

    Parts of one name are one candidate. Candidates get weights by their out-of-fold rows; a single candidate is
    only assembled from its parts. Leaves model.skops and oof.parquet; returns `computation_facts.FitFacts` with
    `weights`, `members` and `candidates`; its scores use cross-fitted weights. Raises InvalidInput `no_input`
    or `nothing_in_common`.
    """
    started = time.perf_counter()
    parsed_problem = Problem.from_json(problem)
    oofs = [pd.read_parquet(workspace.inputs[f"oof_{number}"]) for number in range(len(fits))]
    blended = blend_candidates(
        [CandidateFit.from_json(fit) for fit in fits],
        oofs,
        # Loaded when needed: models without a weight would only take memory.
        lambda number: deserialize_model(workspace.inputs[f"model_{number}"].read_bytes()).pipeline,
        parsed_problem,
        seed,
    )
    facts: FitFacts = {
        **blended.facts,  # type: ignore[typeddict-item]  # the keys of `blend`
        "name": name,
        "metric": parsed_problem.metric,
        "greater_is_better": METRICS[parsed_problem.metric].greater_is_better,
        "folds": FoldPlan.from_json(folds).to_json(),
        "problem": parsed_problem.to_json(),
        "versions": library_versions(),
        "fit_s": round_significant(time.perf_counter() - started, 4) or 0.0,
    }
    _write_fit(workspace, blended.model, facts, blended.oof)
    return to_json_facts(facts)


def refit(
    workspace: CellWorkspace,
    fit: dict[str, Any],
    seed: int = 0,
    time_limit_s: float | None = None,
    by_entity: bool = False,
    widening: float | None = None,
) -> JsonValue:
    """Fit the chosen model on all rows, the inputs `train` and `holdout`, after its evaluation on the hold-out.

    `fit`: its `FitFacts` (an Ensemble's with `candidates`). Settings, weights, threshold, calibration and
    intervals are kept; `widening`: the factor by which intervals are wider that held too few rows of the
    hold-out. `by_entity`: rows of groups with training rows are predicted by fits that read the group's column.
    Leaves model.skops; returns `{"rows", "fits", "fit_s"}`, with `by_entity` if it has such fits and `widening`
    if its intervals are wider, or `rows` 0 and no model if the time did not suffice. In time order candidates
    with most of the weight suffice.
    """
    started = time.perf_counter()
    chosen = CandidateFit.from_json(fit)
    parsed_problem = Problem.from_json(chosen.problem)
    train, holdout = read_frame(workspace, "train"), read_frame(workspace, "holdout")
    frame = pd.concat([train, holdout], ignore_index=True)
    remaining_s = None if time_limit_s is None else time_limit_s - WRITING_S - (time.perf_counter() - started)
    data = TrainingSet.from_frame(prediction_rows(frame, parsed_problem), parsed_problem)
    threads = threads_for(data.frame, workspace.threads)
    refitted = refit_on_all_rows(data, chosen, seed, remaining_s, by_entity, threads)
    if refitted is None:
        return to_json_facts(
            {"rows": 0, "fits": 0, "fit_s": round_significant(time.perf_counter() - started, 4)}
        )
    model, fits = refitted
    ahead = judged_ahead(train, holdout, parsed_problem)
    schema = [
        {**column, **({JUDGED_AHEAD: ahead[column["name"]]} if column["name"] in ahead else {})}
        for column in infer_schema(frame, parsed_problem, chosen.recipe)
    ]
    # Scores stay those of the fit that was judged: no rows are left to judge this one by.
    facts = {**fit, "schema": schema, "learned_rows": len(frame)}
    is_wider = widening is not None and bool(fit.get("prediction_intervals"))
    if widening is not None and is_wider:
        facts["prediction_intervals"] = widen_intervals(fit["prediction_intervals"], widening)
    (workspace.output / "model.skops").write_bytes(serialize_model(StoredModel(model, to_json_facts(facts))))
    took_s = round_significant(time.perf_counter() - started, 4)
    is_by_entity = {"by_entity": True} if isinstance(model, ByEntityClassifier | ByEntityRegressor) else {}
    width = {"widening": widening} if is_wider else {}
    return to_json_facts({"rows": len(frame), "fits": fits, "fit_s": took_s, **is_by_entity, **width})


def propose_candidates(
    workspace: CellWorkspace,
    fits: list[dict[str, Any]],
    budget_s: float,
    seed: int = 0,
    most: int = 12,
    param_grid: dict[str, list[Any]] | None = None,
    tried: list[dict[str, Any]] | None = None,
    search: str = "random",
) -> JsonValue:
    """Propose candidates to fit next; no input. `search` grid: every combination of `param_grid`.

    Returns `{"candidates": [{"name", "estimator", "hyperparameters", "recipe"}]}`.
    """
    bases = [CandidateFit.from_json(fit) for fit in fits]
    previous = [parse_facts(FittedSpec, spec) for spec in tried or ()]
    if search == "grid" and param_grid:
        return to_json_facts({"candidates": enumerate_grid(bases, param_grid, previous)})
    return to_json_facts(
        {"candidates": propose_hyperparameters(bases, budget_s, seed, most, param_grid, previous)}
    )


def _fold_numbers(run: list[int] | None, count: int) -> list[int]:
    if run is None:
        return list(range(count))
    wrong = [number for number in run if not 0 <= number < count]
    if wrong or len(set(run)) < len(run):
        raise InvalidInput(
            "bad_run",
            f"Folds are numbered 0 to {count - 1} and may occur once each; {run} is not valid.",
            run=run,
        )
    return list(run)


def _by_fold(validated: CrossValidated, metric: str, count: int) -> list[float | None]:
    scores = dict(zip(validated.run, validated.fold_metrics, strict=True))
    return [scores[number][metric] if number in scores else None for number in range(count)]


def _postprocess(
    validated: CrossValidated, problem: Problem, seed: int, ahead: np.ndarray | None
) -> dict[str, Any]:
    rows = validated.tested
    if not rows.any():
        return dict.fromkeys(POSTPROCESS_KEYS)
    steps = None if ahead is None else ahead[rows]
    return postprocess(
        validated.truth[rows], validated.output[rows], validated.fold[rows], problem, seed, steps
    )


def _oof(validated: CrossValidated, ahead: np.ndarray | None) -> pd.DataFrame:
    rows = validated.tested.nonzero()[0]
    steps = None if ahead is None else ahead[rows]
    return make_oof_table(rows, validated.fold[rows], validated.truth[rows], validated.output[rows], steps)


def _write_fit(workspace: CellWorkspace, model: Model, facts: FitFacts, oof: pd.DataFrame) -> None:
    (workspace.output / "model.skops").write_bytes(serialize_model(StoredModel(model, to_json_facts(facts))))
    write_frame(workspace, oof, "oof.parquet")
