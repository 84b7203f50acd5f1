"""What to try next: hyperparameters drawn from each estimator's own space, best estimators first."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.modeling.estimators.candidates import ESTIMATORS, SearchChoices, SearchRange
from app.modeling.problem.custom_code import CUSTOM_ESTIMATOR
from app.modeling.problem.kinds import BASELINE
from app.modeling.scoring.scores import rank_scores

UNTUNED = (BASELINE, CUSTOM_ESTIMATOR)
"""What has no hyperparameters of its own."""


def propose(
    fits: Sequence[Mapping[str, Any]],
    budget_s: float,
    seed: int = 0,
    most: int = 12,
    param_grid: Mapping[str, Sequence[Any]] | None = None,
    tried: Sequence[Mapping[str, Any]] = (),
) -> list[dict[str, Any]]:
    """Candidates to fit next: `{"name", "estimator", "hyperparameters", "recipe"}`, in the order to try them.

    `fits` are `FitFacts` so far. As many as fit into `budget_s` going by how long each estimator took; two
    thirds go to the best estimator, the rest to the next best. The same fits and seed give the same proposal;
    nothing is proposed that is in `tried` already.
    """
    known = [fit for fit in fits if fit["estimator"] not in UNTUNED and fit.get("score") is not None]
    if not known:
        return []
    best_first = _best_of_each_estimator(known)
    made: list[dict[str, Any]] = []
    left_s = budget_s
    seen = {_key(fit) for fit in (*known, *tried)}
    for place in range(most * 4):
        base = best_first[0 if place % 3 < 2 else min(1, len(best_first) - 1)]
        cost_s = float(base["fit_s"]) * 1.3
        if len(made) >= most or cost_s > left_s:
            break
        values = _draw(base["estimator"], param_grid, np.random.default_rng([seed, place]))
        spec = {"estimator": base["estimator"], "hyperparameters": values, "recipe": base["recipe"]}
        if _key(spec) in seen:
            continue
        seen.add(_key(spec))
        made.append({"name": f"{base['estimator']}-t{len(made) + 1}", **spec})
        left_s -= cost_s
    return made


def _best_of_each_estimator(fits: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    order = rank_scores(fits[0]["metric"], {str(place): fit["score"] for place, fit in enumerate(fits)})
    by_estimator: dict[str, Mapping[str, Any]] = {}
    for place in order:
        fit = fits[int(place)]
        by_estimator.setdefault(fit["estimator"], fit)
    return list(by_estimator.values())


def _key(spec: Mapping[str, Any]) -> str:
    return f"{spec['estimator']}{sorted(spec['hyperparameters'].items(), key=str)}{spec['recipe']}"


def _draw(
    estimator: str, param_grid: Mapping[str, Sequence[Any]] | None, rng: np.random.Generator
) -> dict[str, Any]:
    space: Mapping[str, SearchRange | SearchChoices] = ESTIMATORS[estimator].search_space
    if param_grid:
        space = {name: tuple(values) for name, values in param_grid.items()}
    return {name: _one(values, rng) for name, values in space.items()}


def _one(values: SearchRange | SearchChoices, rng: np.random.Generator) -> Any:
    if not isinstance(values, SearchRange):
        return values[int(rng.integers(len(values)))]
    if values.log:
        drawn = float(np.exp(rng.uniform(np.log(values.low), np.log(values.high))))
    else:
        drawn = float(rng.uniform(values.low, values.high))
    return round(drawn) if values.is_integer else float(f"{drawn:.4g}")
