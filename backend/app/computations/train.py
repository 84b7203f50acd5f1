"""Fit one candidate."""

import time
from typing import Any

import pandas as pd

from app.computations.bench import Bench, JsonValue
from app.computations.frames import answer, read_training, write_frame
from app.modeling.fitting import CrossValidated, Spec, cross_validate, fit, greater_is_better, name_of
from app.modeling.limits import threads_for, within
from app.modeling.persistence import StoredModel, dump, versions
from app.modeling.plain import rounded
from app.modeling.preview import normalized
from app.modeling.problem import Problem
from app.modeling.results import FitFacts
from app.modeling.schema import schema_of
from app.modeling.split import FoldPlan
from app.modeling.split import folds as make_folds
from app.modeling.thresholds import best_threshold
from app.modeling.tuning import propose


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
) -> JsonValue:
    """Input `frame`: the RAW training frame. Leaves model.skops and oof.parquet; answers `results.FitFacts`.

    `estimator`: `baseline`, LogisticRegression, Ridge, RandomForest, ExtraTrees, GradientBoosting or XGBoost.
    `folds`: as `lock_holdout` gave them. Raises InvalidInput `unknown_estimator`, `bad_hyperparameter`,
    `bad_recipe`, `too_little_data`.
    """
    started = time.perf_counter()
    frame, whole = read_training(bench, problem)
    plan = FoldPlan.from_json(folds)
    threads = threads_for(frame, bench.threads)
    made = make_folds(frame, whole, plan)
    asked = Spec(estimator, hyperparameters or {}, normalized(recipe or []), seed, threads)
    spec, limited = within(frame, whole, asked, made, time_limit_s)
    judged = cross_validate(frame, whole, spec, made, lambda done: bench.report(done, "folds"))
    model = fit(frame, whole, spec)
    threshold = best_threshold(judged.predicted(whole)) if whole.is_binary else None
    summary = judged.summary()
    facts: FitFacts = {
        "name": name or name_of(spec, whole),
        "estimator": name_of(spec, whole),
        "hyperparameters": dict(spec.hyperparameters),
        "recipe": spec.recipe,
        "metric": whole.metric,
        "greater_is_better": greater_is_better(whole),
        "score": summary[whole.metric]["mean"],
        "std": summary[whole.metric]["std"],
        "fold_scores": [scores[whole.metric] for scores in judged.fold_metrics],
        "metrics": summary,
        "threshold": threshold,
        "rows": int((~pd.isna(judged.truth)).sum()),
        "features": len(model.named_steps["encode"].get_feature_names_out()),
        "fit_s": rounded(time.perf_counter() - started, 4) or 0.0,
        "folds": plan.to_json(),  # type: ignore[typeddict-item]  # the same keys
        "fold_count": len(judged.fold_metrics),
        "limited": limited,
        "schema": schema_of(frame, whole, spec.recipe),
        "problem": whole.to_json(),
        "versions": versions(),
    }
    (bench.output / "model.skops").write_bytes(dump(StoredModel(model, answer(facts))))
    write_frame(bench, _out_of_fold(judged, whole), "oof.parquet")
    return answer(facts)


def _out_of_fold(judged: CrossValidated, problem: Problem) -> pd.DataFrame:
    rows = judged.tested.nonzero()[0]
    columns: dict[str, Any] = {"row": rows, "fold": judged.fold[rows], "truth": judged.truth[rows]}
    if problem.is_classification:
        columns |= {f"p_{place}": judged.output[rows, place] for place in range(judged.output.shape[1])}
    else:
        columns["prediction"] = judged.output[rows]
    return pd.DataFrame(columns)


def propose_candidates(
    bench: Bench,
    fits: list[dict[str, Any]],
    budget_s: float,
    seed: int = 0,
    most: int = 12,
    param_grid: dict[str, list[Any]] | None = None,
) -> JsonValue:
    """No input. What to fit next: `{"candidates": [{"name", "estimator", "hyperparameters", "recipe"}]}`."""
    return answer({"candidates": propose(fits, budget_s, seed, most, param_grid)})
