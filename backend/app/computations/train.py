"""Fit one candidate, or a part of it; put fitted parts together."""

import time
from typing import Any

import numpy as np
import pandas as pd

from app.computations.bench import Bench
from app.computations.frames import answer, read_frame, read_training, write_frame
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.modeling.analysis.preview import normalize_recipe
from app.modeling.labels.split import FoldPlan
from app.modeling.labels.split import make_folds as make_folds
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.problem.results import FitFacts
from app.modeling.recipe.forecast_origins import get_rows_ahead, prediction_rows
from app.modeling.scoring.postprocess import POSTPROCESS_KEYS, postprocess
from app.modeling.table.json_values import round_significant
from app.modeling.training.cross_validation import CrossValidated, cross_validate, final_model
from app.modeling.training.ensemble.average import Model, count_features
from app.modeling.training.ensemble.blend import blend_candidates as put_together
from app.modeling.training.ensemble.blend import make_oof_table
from app.modeling.training.ensemble.refit import refit_on_all_rows as refit_on_all
from app.modeling.training.fitting import CandidateSpec, candidate_name, fit, greater_is_better
from app.modeling.training.persistence import StoredModel, deserialize_model, library_versions, serialize_model
from app.modeling.training.schema import infer_schema
from app.modeling.training.time_limits import reduce_to_limit, slowness, threads_for
from app.modeling.training.tuning import propose_hyperparameters

FOR_WRITING_S = 0.25
"""Of a time limit: for reading rows and writing the model."""


def fit_candidate(
    bench: Bench,
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
    """Input `frame`: the RAW training frame. Leaves model.skops and oof.parquet; answers `results.FitFacts`.

    `estimator`: `baseline` or a name of `candidates.CANDIDATES`. `folds`: as `lock_holdout` gave them.
    `run`: the folds to fit, all where None; an empty list fits on all rows, unjudged. `settings`: what an
    earlier part of this candidate answered as such: with it nothing is chosen by the clock or by watching.
    Raises InvalidInput `unknown_estimator`, `bad_hyperparameter`, `bad_recipe`, `bad_run`, `too_little_data`.
    """
    started, cpu_started = time.perf_counter(), time.process_time()
    table, whole = read_training(bench, problem)
    frame = prediction_rows(table, whole)
    plan = FoldPlan.from_json(folds)
    made = make_folds(frame, whole, plan)
    given = dict(settings or {})
    asked = CandidateSpec(
        estimator,
        hyperparameters or {},
        normalize_recipe(recipe or []),
        seed,
        threads_for(frame, bench.threads),
        row_share=float(given.pop("row_share", 1.0)),
        settings=given,
    )
    places = _places(run, len(made))
    limit_s = None if time_limit_s is None else time_limit_s / slowness(started, cpu_started)
    spec, limited = reduce_to_limit(frame, whole, asked, [made[place] for place in places], limit_s)
    left_s = None
    if time_limit_s is not None:
        left_s = max(time_limit_s - FOR_WRITING_S - (time.perf_counter() - started), 0.5)
    judged = cross_validate(frame, whole, spec, made, lambda done: bench.report(done, "folds"), places, left_s)
    model = final_model(frame, whole, spec, judged, made) if places else fit(frame, whole, spec)
    summary = judged.summary()
    found = dict(spec.settings) | judged.settings
    if spec.row_share < 1:
        found["row_share"] = spec.row_share
    facts: FitFacts = {
        "name": name or candidate_name(spec, whole),
        "estimator": candidate_name(spec, whole),
        "hyperparameters": dict(spec.hyperparameters),
        "recipe": spec.recipe,
        "metric": whole.metric,
        "greater_is_better": greater_is_better(whole),
        "score": summary[whole.metric]["mean"] if summary else None,
        "std": summary[whole.metric]["std"] if summary else None,
        "fold_scores": _by_fold(judged, whole.metric, len(made)),
        "metrics": summary,
        **_finished(judged, whole, seed, get_rows_ahead(frame)),  # type: ignore[typeddict-item]  # the keys of `finish`
        "rows": int((~pd.isna(judged.truth)).sum()),
        "features": count_features(model),
        "fit_s": round_significant(time.perf_counter() - started, 4) or 0.0,
        "fold_s": judged.fold_s,
        "run": judged.run,
        "settings": found,
        "threads": bench.threads,
        "folds": plan.to_json(),
        "fold_count": len(judged.run),
        "limited": limited,
        "schema": infer_schema(table, whole, spec.recipe),
        "problem": whole.to_json(),
        "versions": library_versions(),
    }
    _leave(bench, model, facts, _oof(judged, get_rows_ahead(frame)))
    return answer(facts)


def blend(
    bench: Bench,
    problem: dict[str, Any],
    folds: dict[str, Any],
    fits: list[dict[str, Any]],
    seed: int = 0,
    name: str = "Ensemble",
) -> JsonValue:
    """Inputs model_0, oof_0, model_1, oof_1, ... of the parts whose `FitFacts` are `fits`, in that order.

    Parts of one name are one candidate. Candidates get weights by their out-of-fold rows; one alone is put
    together from its parts. Leaves model.skops and oof.parquet; answers `results.FitFacts` with `weights`,
    `members` and `candidates`; its scores are of weights that the judged rows had no say in.
    Raises InvalidInput `no_input` or `nothing_in_common`.
    """
    started = time.perf_counter()
    whole = Problem.from_json(problem)
    oofs = [pd.read_parquet(bench.inputs[f"oof_{place}"]) for place in range(len(fits))]
    made = put_together(
        fits,
        oofs,
        lambda place: deserialize_model(bench.inputs[f"model_{place}"].read_bytes()).pipeline,
        whole,
        seed,
    )
    facts: FitFacts = {
        **made.facts,  # type: ignore[typeddict-item]  # the keys of `blend`
        "name": name,
        "metric": whole.metric,
        "greater_is_better": METRICS[whole.metric].greater_is_better,
        "folds": FoldPlan.from_json(folds).to_json(),
        "problem": whole.to_json(),
        "versions": library_versions(),
        "fit_s": round_significant(time.perf_counter() - started, 4) or 0.0,
    }
    _leave(bench, made.model, facts, made.oof)
    return answer(facts)


def refit(bench: Bench, fit: dict[str, Any], seed: int = 0, time_limit_s: float | None = None) -> JsonValue:
    """Inputs `train` and `holdout`: the chosen model learns from all rows, after the hold-out has judged it.

    `fit`: its `FitFacts` (an Ensemble's with `candidates`). Settings, weights, threshold, calibration and
    bounds stay as they were judged. Leaves model.skops; answers `{"rows", "fits", "fit_s"}`, or `rows` 0 and
    no model where the time was not enough.
    """
    started = time.perf_counter()
    whole = Problem.from_json(fit["problem"])
    frame = pd.concat([read_frame(bench, "train"), read_frame(bench, "holdout")], ignore_index=True)
    left_s = None if time_limit_s is None else time_limit_s - FOR_WRITING_S - (time.perf_counter() - started)
    made = refit_on_all(prediction_rows(frame, whole), whole, fit, seed, left_s)
    if made is None:
        return answer({"rows": 0, "fits": 0, "fit_s": round_significant(time.perf_counter() - started, 4)})
    model, fits = made
    facts = {**fit, "schema": infer_schema(frame, whole, fit["recipe"]), "learned_rows": len(frame)}
    (bench.output / "model.skops").write_bytes(serialize_model(StoredModel(model, answer(facts))))
    took_s = round_significant(time.perf_counter() - started, 4)
    return answer({"rows": len(frame), "fits": fits, "fit_s": took_s})


def propose_candidates(
    bench: Bench,
    fits: list[dict[str, Any]],
    budget_s: float,
    seed: int = 0,
    most: int = 12,
    param_grid: dict[str, list[Any]] | None = None,
    tried: list[dict[str, Any]] | None = None,
) -> JsonValue:
    """No input. What to fit next: `{"candidates": [{"name", "estimator", "hyperparameters", "recipe"}]}`."""
    return answer({"candidates": propose_hyperparameters(fits, budget_s, seed, most, param_grid, tried or [])})


def _places(run: list[int] | None, count: int) -> list[int]:
    if run is None:
        return list(range(count))
    wrong = [place for place in run if not 0 <= place < count]
    if wrong or len(set(run)) < len(run):
        raise InvalidInput(
            "bad_run", f"The folds are 0 to {count - 1}, each at most once, and not {run}.", run=run
        )
    return list(run)


def _by_fold(judged: CrossValidated, metric: str, count: int) -> list[float | None]:
    scores = dict(zip(judged.run, judged.fold_metrics, strict=True))
    return [scores[number][metric] if number in scores else None for number in range(count)]


def _finished(judged: CrossValidated, problem: Problem, seed: int, ahead: np.ndarray | None) -> dict[str, Any]:
    rows = judged.tested
    if not rows.any():
        return dict.fromkeys(POSTPROCESS_KEYS)
    steps = None if ahead is None else ahead[rows]
    return postprocess(judged.truth[rows], judged.output[rows], judged.fold[rows], problem, seed, steps)


def _oof(judged: CrossValidated, ahead: np.ndarray | None) -> pd.DataFrame:
    rows = judged.tested.nonzero()[0]
    steps = None if ahead is None else ahead[rows]
    return make_oof_table(rows, judged.fold[rows], judged.truth[rows], judged.output[rows], steps)


def _leave(bench: Bench, model: Model, facts: FitFacts, oof: pd.DataFrame) -> None:
    (bench.output / "model.skops").write_bytes(serialize_model(StoredModel(model, answer(facts))))
    write_frame(bench, oof, "oof.parquet")
