"""Hyperparameter proposals, drawn from each estimator's own search space, best estimators first."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from app.modeling.estimators.estimator_catalog import ESTIMATORS, SearchChoices, SearchRange
from app.modeling.facts.code_in_facts import CUSTOM_ESTIMATOR
from app.modeling.facts.computation_facts import RecipeJson
from app.modeling.facts.fits import CandidateFit, FittedSpec
from app.modeling.problem.kinds import REFERENCES
from app.modeling.scoring.scores import rank_scores

COST_FACTOR = 1.3
"""Expected time of a fit, as a multiple of the best one's: other hyperparameters may be slower."""

UNTUNED = (*REFERENCES, CUSTOM_ESTIMATOR)
"""Estimators without hyperparameters of their own."""


def propose_hyperparameters(
    fits: Sequence[CandidateFit],
    budget_s: float,
    seed: int = 0,
    max_candidates: int = 12,
    param_grid: Mapping[str, Sequence[Any]] | None = None,
    previous: Sequence[FittedSpec] = (),
) -> list[dict[str, Any]]:
    """Propose candidates to fit next: `{"name", "estimator", "hyperparameters", "recipe"}`, in order of trial.

    `fits` are the `FitFacts` so far. As many are proposed as fit into `budget_s`, going by the time that each
    estimator took; two thirds go to the best estimator, the rest to the next best. The same fits and seed give
    the same proposal; nothing in `previous` is proposed again.
    """
    scored = [fit for fit in fits if fit.estimator not in UNTUNED and fit.score is not None]
    if not scored:
        return []
    best_first = _best_of_each_estimator(scored)
    proposals: list[dict[str, Any]] = []
    remaining_s = budget_s
    earlier_fits: list[CandidateFit | FittedSpec] = [*scored, *previous]
    known_keys = {_spec_key(fit.estimator, fit.hyperparameters, fit.recipe) for fit in earlier_fits}
    # A small search space runs out of new combinations: attempts end where proposals would not.
    for attempt in range(max_candidates * 4):
        # The second best gets some of the time, since its defaults may just have been worse.
        base = best_first[0 if attempt % 3 < 2 else min(1, len(best_first) - 1)]
        cost_s = base.fit_s * COST_FACTOR
        if len(proposals) >= max_candidates or cost_s > remaining_s:
            break
        # A generator for each attempt: how many values one draws does not change what the next proposes.
        values = _draw_hyperparameters(base.estimator, param_grid, np.random.default_rng([seed, attempt]))
        key = _spec_key(base.estimator, values, base.recipe)
        if key in known_keys:
            continue
        known_keys.add(key)
        name = f"{base.estimator}-t{len(proposals) + 1}"
        proposals.append(
            {"name": name, "estimator": base.estimator, "hyperparameters": values, "recipe": base.recipe}
        )
        remaining_s -= cost_s
    return proposals


def enumerate_grid(
    fits: Sequence[CandidateFit], param_grid: Mapping[str, Sequence[Any]], previous: Sequence[FittedSpec] = ()
) -> list[dict[str, Any]]:
    """Return every combination of the grid for the best of the estimators, but those fitted already."""
    scored = [fit for fit in fits if fit.estimator not in UNTUNED and fit.score is not None]
    if not scored:
        return []
    base = _best_of_each_estimator(scored)[0]
    earlier_fits: list[CandidateFit | FittedSpec] = [*scored, *previous]
    known_keys = {_spec_key(fit.estimator, fit.hyperparameters, fit.recipe) for fit in earlier_fits}
    combinations = [dict(zip(param_grid, values, strict=True)) for values in product(*param_grid.values())]
    fresh = [
        combination
        for combination in combinations
        if _spec_key(base.estimator, combination, base.recipe) not in known_keys
    ]
    return [
        {
            "name": f"{base.estimator}-t{number}",
            "estimator": base.estimator,
            "hyperparameters": combination,
            "recipe": base.recipe,
        }
        for number, combination in enumerate(fresh, start=1)
    ]


def _best_of_each_estimator(fits: Sequence[CandidateFit]) -> list[CandidateFit]:
    order = rank_scores(fits[0].metric, {str(index): fit.score for index, fit in enumerate(fits)})
    by_estimator: dict[str, CandidateFit] = {}
    for index in order:
        fit = fits[int(index)]
        by_estimator.setdefault(fit.estimator, fit)
    return list(by_estimator.values())


def _spec_key(estimator: str, hyperparameters: Mapping[str, Any], recipe: RecipeJson) -> str:
    return f"{estimator}{sorted(hyperparameters.items(), key=str)}{recipe}"


def _draw_hyperparameters(
    estimator: str, param_grid: Mapping[str, Sequence[Any]] | None, rng: np.random.Generator
) -> dict[str, Any]:
    space: Mapping[str, SearchRange | SearchChoices] = ESTIMATORS[estimator].search_space
    if param_grid:
        space = {name: tuple(values) for name, values in param_grid.items()}
    return {name: _draw_value(values, rng) for name, values in space.items()}


def _draw_value(values: SearchRange | SearchChoices, rng: np.random.Generator) -> Any:
    if not isinstance(values, SearchRange):
        return values[int(rng.integers(len(values)))]
    if values.log:
        # Rates and penalties act by factors: 0.01 to 0.02 matters as much as 0.1 to 0.2.
        value = float(np.exp(rng.uniform(np.log(values.low), np.log(values.high))))
    else:
        value = float(rng.uniform(values.low, values.high))
    # Four digits are stored and shown, so that what is fitted is what a reader sees.
    return round(value) if values.is_integer else float(f"{value:.4g}")
