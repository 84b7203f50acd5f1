"""Keep a fit within its time limit: time a small one, and cut rounds, then rows, as far as needed."""

import time
from dataclasses import replace

import pandas as pd

from app.modeling.candidates import candidate
from app.modeling.fitting import Spec, fit_rows
from app.modeling.labels import labels_of
from app.modeling.problem import Problem
from app.modeling.split import Fold

SMALL = 50_000
"""Rows times columns: a table of this size is not worth a probe, nor a second thread."""

PROBE_SHARE = 0.1
FEWEST_ROUNDS = 0.3
"""Rounds are cut to this share before rows are."""


def threads_for(frame: pd.DataFrame, threads: int) -> int:
    return 1 if frame.size < SMALL else threads


def within(
    frame: pd.DataFrame, problem: Problem, spec: Spec, folds: list[Fold], limit_s: float | None
) -> tuple[Spec, str | None]:
    """The spec that should keep the limit, and what was cut, in words; the same spec where nothing need be.

    Scores of a cut candidate are of the cut candidate: folds and final model are fitted alike.
    """
    if limit_s is None or (frame.size < SMALL and limit_s >= 5):
        return spec, None
    probe_s = _probe(frame, problem, spec, folds[-1])
    expected_s = probe_s / PROBE_SHARE * (len(folds) + 1.25)
    return cut(problem, spec, limit_s / max(expected_s, 1e-9))


def _probe(frame: pd.DataFrame, problem: Problem, spec: Spec, fold: Fold) -> float:
    labels = labels_of(frame, problem)
    started = time.perf_counter()
    fit_rows(frame, labels, fold.train, problem, replace(spec, row_share=PROBE_SHARE))
    return time.perf_counter() - started


def cut(problem: Problem, spec: Spec, share: float) -> tuple[Spec, str | None]:
    """The spec with about `share` of its work."""
    if share >= 1:
        return spec, None
    found = candidate(spec.estimator, problem.kind)
    said = []
    if found.rounds:
        kept = max(share, FEWEST_ROUNDS)
        rounds = int({**found.defaults, **spec.hyperparameters}[found.rounds])
        fewer = max(10, int(rounds * kept))
        spec = replace(spec, hyperparameters={**spec.hyperparameters, found.rounds: fewer})
        said.append(f"{fewer} of {rounds} rounds")
        share /= kept
    if share < 1:
        spec = replace(spec, row_share=max(share, 0.02))
        said.append(f"{spec.row_share:.0%} of the rows")
    return spec, f"Learned with {' and '.join(said)} to keep its time limit."
