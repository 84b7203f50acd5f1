"""Refit of the chosen model on all rows, after the hold-out has been scored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.modeling.estimators.families.boosting_schedule import Clock
from app.modeling.facts.fits import CandidateFit, FittedSpec
from app.modeling.problem.problem import Problem
from app.modeling.training.blending.known_entities import fit_known_entities
from app.modeling.training.ensemble.average import FittedModel, Model, average_models, route_by_entity
from app.modeling.training.fitting import CandidateSpec, fit
from app.modeling.training.training_set import TrainingSet

COPIES = 3
"""Fits of each candidate, with different seeds: their average replaces the average of fold models."""
MIN_WEIGHT_IN_TIME = 0.5
"""Weight of the candidates that are fitted, in time order, from which they are delivered without the others."""


@dataclass(frozen=True)
class _Member:
    """A candidate as it was fitted, its weight in the model, and the seconds of one of its folds."""

    spec: CandidateSpec
    weight: float
    seconds_per_fold: float


def refit_on_all_rows(
    data: TrainingSet,
    model_fit: CandidateFit,
    seed: int,
    seconds: float | None,
    by_entity: bool = False,
    threads: int = 1,
) -> tuple[Model, int] | None:
    """Fit the chosen model on every row, with the settings found before.

    Returns it with the number of fits that it averages; None if `seconds` do not suffice for each candidate, or
    in time order for those with most of the weight: the latest rows are the most like those to come, and a
    model that never saw them is behind one of fewer candidates. While time is left for another round,
    candidates are fitted again with other seeds. `by_entity`: rows of groups with training rows are predicted
    by fits that read the group's column, if there is time for them.
    """
    clock, problem = Clock(seconds), data.problem
    # The heaviest first, so that time that ends early costs the least.
    members = sorted(_list_members(model_fit, seed, threads), key=lambda member: -member.weight)
    pairs = _fit_round(data, members, seed, clock)
    fitted_members = [member for member, _ in pairs]
    if not pairs or not _suffices(fitted_members, members, problem):
        return None
    weighted = [(model, member.weight) for member, model in pairs]
    round_s, count = clock.elapsed_s, len(pairs)
    entity_model: FittedModel | None = None
    is_grouped = problem.group_column is not None and problem.time_column is None
    # After the first round: a complete model comes first, then one for known groups, then more copies.
    if by_entity and is_grouped and not _is_late(clock, round_s):
        entity_specs = [member.spec for member in fitted_members]
        entity_model, entity_fits = fit_known_entities(data, entity_specs, seed, clock)
        count += entity_fits
    # Whole rounds only: an average with more copies of some candidates would change the chosen weights.
    for copy in range(1, COPIES):
        pairs = [] if _is_late(clock, round_s) else _fit_round(data, fitted_members, seed + copy, clock)
        if len(pairs) < len(fitted_members):
            break
        weighted += [(model, member.weight) for member, model in pairs]
        count += len(pairs)
    averaged = average_models(weighted, problem)
    if entity_model is None:
        return averaged, count
    return route_by_entity(entity_model, averaged, data.frame, problem), count


def _fit_round(
    data: TrainingSet, members: Sequence[_Member], seed: int, clock: Clock
) -> list[tuple[_Member, FittedModel]]:
    """Fit each candidate once, but for those that would take longer than the time left, by their folds."""
    return [
        (member, fit(data, replace(member.spec, seed=seed)))
        for member in members
        if not _is_late(clock, member.seconds_per_fold) and not clock.is_expired
    ]


def _suffices(fitted: Sequence[_Member], members: Sequence[_Member], problem: Problem) -> bool:
    """Return true if these candidates of the model stand for all of it: in time order, most of its weight."""
    if len(fitted) == len(members):
        return True
    share = sum(member.weight for member in fitted) / sum(member.weight for member in members)
    return problem.time_column is not None and share >= MIN_WEIGHT_IN_TIME


def _is_late(clock: Clock, seconds: float) -> bool:
    """Return true if work of these seconds would take longer than the time left."""
    return clock.remaining_s is not None and seconds > clock.remaining_s


def _list_members(model_fit: CandidateFit, seed: int, threads: int) -> Iterator[_Member]:
    """Yield the candidates of an ensemble that have weight; the model itself if it is none."""
    weights = model_fit.weights or {model_fit.name: 1.0}
    candidates: Sequence[FittedSpec | CandidateFit] = model_fit.candidates or [model_fit]
    for candidate in candidates:
        if weights.get(candidate.name, 0.0) > 0:
            settings = dict(candidate.settings)
            # Stored among the settings that early stopping chose, but read by `fit`, not by the estimator.
            share = float(settings.pop("row_share", 1.0))
            spec = CandidateSpec(
                candidate.estimator,
                candidate.hyperparameters,
                candidate.recipe,
                seed,
                threads,
                share,
                settings,
            )
            yield _Member(spec, weights[candidate.name], candidate.seconds_per_fold)
