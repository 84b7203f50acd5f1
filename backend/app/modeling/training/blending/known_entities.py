"""A model for rows of entities with training rows, beside the one that was chosen for new entities.

Where rows of an entity stay on one side of every split, candidates are judged without its name, and those that
do best for new entities learn little of single ones. Rows of known entities get a model of their own.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app.modeling.estimators.families.boosting_schedule import Clock
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.kinds import PLAIN
from app.modeling.training.cross_validation import MAX_OVERTIME, CrossValidated, cross_validate
from app.modeling.training.ensemble.average import FittedModel, average_models
from app.modeling.training.ensemble.weights import CandidatePredictions, choose_weights
from app.modeling.training.fitting import CandidateSpec, fit
from app.modeling.training.training_set import TrainingSet

FOLDS = 5
"""Folds, of which one is fitted: as many as those that candidates are compared on."""
TIME_SHARE = 0.6
"""Share of the time left for known entities: the rest is for more fits for new ones, which the score is of."""


def fit_known_entities(
    data: TrainingSet, specs: Sequence[CandidateSpec], seed: int, clock: Clock
) -> tuple[FittedModel | None, int]:
    """Fit the plain candidate and `specs` with the group's column as an input, weighted by rows of a fold.

    Returns the model, None without the time for one candidate, and the number of its fits.
    """
    if clock.is_expired:
        return None, 0
    # Rows are split at random here: that is how rows of known entities come again.
    problem = replace(data.problem, group_column=None, group_with=())
    kind = SplitKind.STRATIFIED if problem.is_classification else SplitKind.RANDOM
    free = TrainingSet.from_frame(data.frame, problem, FoldPlan(kind, FOLDS, seed))
    limit = Clock(None if clock.remaining_s is None else TIME_SHARE * clock.remaining_s)
    fitted: list[tuple[CandidateSpec, CrossValidated]] = []
    plain = CandidateSpec(PLAIN, recipe=specs[0].recipe, seed=seed)
    for spec in (plain, *(replace(spec, settings={}) for spec in specs if spec.estimator != PLAIN)):
        last_s = fitted[-1][1].seconds if fitted else 0.0
        # Twice: a candidate is fitted on the fold and then on all rows.
        if limit.remaining_s is not None and limit.remaining_s < 2 * last_s:
            break
        # Cross-validation may take that much longer than it is told.
        seconds = None if limit.remaining_s is None else limit.remaining_s / MAX_OVERTIME
        validated = cross_validate(free, spec, run=[0], seconds=seconds)
        if not validated.is_cut:
            fitted.append((replace(spec, row_share=validated.row_share), validated))
    if not fitted:
        return None, 0
    rows = np.flatnonzero(fitted[0][1].tested)
    outputs = np.stack([validated.output[rows] for _, validated in fitted])
    weights = choose_weights(CandidatePredictions(fitted[0][1].truth[rows], outputs), problem, seed)
    members = [
        (_fit_all(free, spec, validated, limit), float(weight))
        for (spec, validated), weight in zip(fitted, weights, strict=True)
        if weight > 0
    ]
    return average_models(members, problem), len(members)


def _fit_all(data: TrainingSet, spec: CandidateSpec, validated: CrossValidated, limit: Clock) -> FittedModel:
    """Fit on all rows with the settings found; without time for that, the model of the fold."""
    if limit.remaining_s is not None and limit.remaining_s < validated.seconds:
        return validated.models[0]
    return fit(data, replace(spec, settings={**spec.settings, **validated.settings}))
