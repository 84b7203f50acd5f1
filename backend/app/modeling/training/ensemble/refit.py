"""Refit of the chosen model on all rows, after the hold-out has been scored."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.modeling.estimators.families.boosting_schedule import Clock
from app.modeling.facts.fits import CandidateFit, FittedSpec
from app.modeling.problem.problem import Problem
from app.modeling.training.ensemble.average import FittedModel, Model, average_models, route_by_entity
from app.modeling.training.ensemble.known_entities import fit_known_entities
from app.modeling.training.fitting import CandidateSpec, fit
from app.modeling.training.training_set import TrainingSet

COPIES = 3
"""Fits of each candidate, with different seeds: their average replaces the average of fold models."""


def refit_on_all_rows(
    data: TrainingSet, model_fit: CandidateFit, seed: int, seconds: float | None, by_entity: bool = False
) -> tuple[Model, int] | None:
    """Fit the chosen model on every row, with the settings found before.

    Returns it with the number of fits that it averages; None if `seconds` end before each candidate was fitted.
    While time is left for another round, candidates are fitted again with other seeds. `by_entity`: rows of
    groups with training rows are predicted by fits that read the group's column, if there is time for them.
    """
    clock = Clock(seconds)
    specs, problem = list(_member_specs(model_fit, seed)), data.problem
    rounds: list[list[FittedModel]] = []
    entity_model: FittedModel | None = None
    round_s, entity_fits = 0.0, 0
    # Whole rounds only: an average with more copies of some candidates would change the chosen weights.
    while len(rounds) < COPIES and not _is_late(clock, round_s):
        started_s = clock.elapsed_s
        fits = _fit_round(data, specs, seed + len(rounds), clock)
        if not fits:
            break
        rounds.append(fits)
        round_s = clock.elapsed_s - started_s
        is_grouped = problem.group_column is not None and problem.time_column is None
        # After the first round: a complete model comes first, then one for known groups, then more copies.
        if by_entity and is_grouped and len(rounds) == 1 and not _is_late(clock, round_s):
            entity_model, entity_fits = fit_known_entities(data, [spec for spec, _ in specs], seed, clock)
    if not rounds:
        return None
    averaged, count = _average(rounds, specs, problem)
    if entity_model is None:
        return averaged, count
    return route_by_entity(entity_model, averaged, data.frame, problem), count + entity_fits


def _fit_round(
    data: TrainingSet, specs: Sequence[tuple[CandidateSpec, float]], seed: int, clock: Clock
) -> list[FittedModel]:
    """Fit each candidate once; empty if the time ends before the last one begins."""
    fits: list[FittedModel] = []
    for spec, _ in specs:
        if clock.is_expired:
            return []
        fits.append(fit(data, replace(spec, seed=seed)))
    return fits


def _is_late(clock: Clock, round_s: float) -> bool:
    """Return true if another round would take longer than the time left, going by the last one."""
    return clock.remaining_s is not None and round_s > clock.remaining_s


def _average(
    rounds: list[list[FittedModel]], specs: list[tuple[CandidateSpec, float]], problem: Problem
) -> tuple[FittedModel, int]:
    pairs = [(model, weight) for fits in rounds for model, (_, weight) in zip(fits, specs, strict=True)]
    return average_models(pairs, problem), len(pairs)


def _member_specs(model_fit: CandidateFit, seed: int) -> Iterator[tuple[CandidateSpec, float]]:
    """Yield each candidate as it was fitted, with its weight; the model itself if it is no ensemble."""
    weights = model_fit.weights or {model_fit.name: 1.0}
    members: Sequence[FittedSpec | CandidateFit] = model_fit.candidates or [model_fit]
    for member in members:
        if weights.get(member.name, 0.0) > 0:
            settings = dict(member.settings)
            # Stored among the settings that early stopping chose, but read by `fit`, not by the estimator.
            share = float(settings.pop("row_share", 1.0))
            spec = CandidateSpec(
                member.estimator, member.hyperparameters, member.recipe, seed, 1, share, settings
            )
            yield spec, weights[member.name]
