"""Refit of the chosen model on all rows, after the hold-out has been scored."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.modeling.estimators.families.boosting_schedule import Clock
from app.modeling.facts.fits import CandidateFit, FittedSpec
from app.modeling.problem.problem import Problem
from app.modeling.training.ensemble.average import Model, average_models
from app.modeling.training.fitting import CandidateSpec, fit
from app.modeling.training.training_set import TrainingSet

COPIES = 3
"""Fits of each candidate, with different seeds: their average replaces the average of fold models."""


def refit_on_all_rows(
    data: TrainingSet, model_fit: CandidateFit, seed: int, seconds: float | None
) -> tuple[Model, int] | None:
    """Fit the chosen model on every row, with the settings found before.

    Returns it with the number of fits that it averages; None if `seconds` end before each candidate was fitted.
    While time is left for another round, candidates are fitted again with other seeds.
    """
    clock = Clock(seconds)
    specs, problem = list(_member_specs(model_fit, seed)), data.problem
    rounds: list[list[Model]] = []
    while len(rounds) < COPIES and not _is_late(clock, len(rounds)):
        fits: list[Model] = []
        for spec, _ in specs:
            if clock.is_expired:
                return _average(rounds, specs, problem) if rounds else None
            fits.append(fit(data, replace(spec, seed=seed + len(rounds))))
        rounds.append(fits)
    return _average(rounds, specs, problem)


def _is_late(clock: Clock, rounds: int) -> bool:
    """Return true if another round would take longer than the time left, going by the rounds so far."""
    return bool(rounds and clock.remaining_s is not None and clock.elapsed_s / rounds > clock.remaining_s)


def _average(
    rounds: list[list[Model]], specs: list[tuple[CandidateSpec, float]], problem: Problem
) -> tuple[Model, int]:
    pairs = [(model, weight) for fits in rounds for model, (_, weight) in zip(fits, specs, strict=True)]
    return average_models(pairs, problem), len(pairs)


def _member_specs(model_fit: CandidateFit, seed: int) -> Iterator[tuple[CandidateSpec, float]]:
    """Yield each candidate as it was fitted, with its weight; the model itself if it is no ensemble."""
    weights = model_fit.weights or {model_fit.name: 1.0}
    members: Sequence[FittedSpec | CandidateFit] = model_fit.candidates or [model_fit]
    for member in members:
        if weights.get(member.name, 0.0) > 0:
            settings = dict(member.settings)
            share = float(settings.pop("row_share", 1.0))
            spec = CandidateSpec(
                member.estimator, member.hyperparameters, member.recipe, seed, 1, share, settings
            )
            yield spec, weights[member.name]
