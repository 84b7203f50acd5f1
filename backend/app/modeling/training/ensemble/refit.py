"""The chosen model once more, on all rows there are: what is delivered, after the hold-out has judged it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from app.modeling.estimators.families.pace import Clock
from app.modeling.problem.problem import Problem
from app.modeling.training.ensemble.average import Model, average
from app.modeling.training.fitting import Spec, fit

COPIES = 3
"""Fits of each candidate, with seeds of their own: their average makes up for that of fold models."""


def refit(
    frame: pd.DataFrame, problem: Problem, facts: Mapping[str, Any], seed: int, seconds: float | None
) -> tuple[Model, int] | None:
    """The model whose `FitFacts` are given, learned from every row with the settings found before.

    With how many fits it is the average of; None where `seconds` end before each candidate was fitted. Then
    candidates are fitted again with other seeds, while one more of each fits into what is left.
    """
    clock = Clock(seconds)
    specs = list(_specs(facts, seed))
    rounds: list[list[Model]] = []
    while len(rounds) < COPIES and not _is_late(clock, len(rounds)):
        fits: list[Model] = []
        for spec, _ in specs:
            if clock.is_expired:
                return _average(rounds, specs, problem) if rounds else None
            fits.append(fit(frame, problem, replace(spec, seed=seed + len(rounds))))
        rounds.append(fits)
    return _average(rounds, specs, problem)


def _is_late(clock: Clock, rounds: int) -> bool:
    """Whether another round would take longer than is left, going by those so far."""
    return bool(rounds and clock.remaining_s is not None and clock.elapsed_s / rounds > clock.remaining_s)


def _average(rounds: list[list[Model]], specs: list[tuple[Spec, float]], problem: Problem) -> tuple[Model, int]:
    pairs = [(model, weight) for fits in rounds for model, (_, weight) in zip(fits, specs, strict=True)]
    return average(pairs, problem), len(pairs)


def _specs(facts: Mapping[str, Any], seed: int) -> Iterator[tuple[Spec, float]]:
    """Each candidate with a weight, as it was fitted; the model itself where it is no ensemble."""
    weights = facts.get("weights") or {facts["name"]: 1.0}
    for one in facts.get("candidates") or [facts]:
        if weights.get(one["name"], 0.0) > 0:
            settings = dict(one["settings"])
            share = float(settings.pop("row_share", 1.0))
            spec = Spec(one["estimator"], one["hyperparameters"], one["recipe"], seed, 1, share, settings)
            yield spec, weights[one["name"]]
