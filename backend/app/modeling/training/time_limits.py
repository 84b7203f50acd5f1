"""Keep a fit within its time limit: time a small one, and cut rounds, then rows, as far as needed."""

import time
from dataclasses import replace

import pandas as pd

from app.modeling.estimators.candidates import get_estimator_spec
from app.modeling.estimators.encoder import is_prose
from app.modeling.labels.labels import make_labels
from app.modeling.labels.split import Fold
from app.modeling.problem.custom_code import CUSTOM_ESTIMATOR, contains_code
from app.modeling.problem.family_catalog import FAMILIES_BY_NAME
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import make_recipe, select_inputs
from app.modeling.table.columns import ColumnKind, column_kind
from app.modeling.training.fitting import Spec, fit_rows, output_of

SMALL = 50_000
"""Rows times columns: a table of this size is not worth a probe, nor a second thread."""

PROBE_SHARE = 0.1
MIN_ROUNDS = 0.3
"""Rounds are cut to this share before rows are."""


def threads_for(frame: pd.DataFrame, threads: int) -> int:
    return 1 if frame.size < SMALL else threads


def within(
    frame: pd.DataFrame, problem: Problem, spec: Spec, folds: list[Fold], limit_s: float | None
) -> tuple[Spec, str | None]:
    """The spec that should keep the limit, and what was cut, in words; the same spec where nothing need be.

    Scores of a cut candidate are of the cut candidate: folds and final model are fitted alike.
    """
    family = FAMILIES_BY_NAME.get(get_estimator_spec(spec.estimator, problem.kind).name)
    if family is not None:
        return rows_for(frame, problem, spec, folds, limit_s, family.seconds_per_cell)
    spec, said = rows_for(frame, problem, spec, folds, None, 0.0)
    if limit_s is None or not folds:
        return spec, said
    if frame.size < SMALL and (limit_s >= 5 or spec.estimator == CUSTOM_ESTIMATOR):
        return spec, said  # code stood its trial on so few rows, and a tenth of them tells less
    timed, cut_said = cut(problem, spec, limit_s / max(_expected_s(frame, problem, spec, folds), 1e-9))
    return timed, cut_said or said


MAX_CELLS = 20_000_000
"""Rows times columns that one fit learns from, however much time there is: about a gigabyte while it works."""

LARGE = MAX_CELLS // 10
"""Cells of a table of which it is worth the time to look how many more a recipe makes."""

MIN_TAUGHT = 5000
"""Rows that are never cut: a short table is learned from as a whole, in fewer rounds."""

TEXT_CELLS = 25
"""How many columns one of prose counts for."""


def slowness(started: float, cpu_started: float) -> float:
    """How many times longer work takes here because others use the machine: at least 1.

    `started` and `cpu_started`: `perf_counter` and `process_time` when this process began to work.
    """
    worked_s, waited_s = time.process_time() - cpu_started, time.perf_counter() - started
    return min(max(waited_s / max(worked_s, 1e-3), 1.0), 10.0) if waited_s > 0.05 else 1.0


def rows_for(
    frame: pd.DataFrame, problem: Problem, spec: Spec, folds: list[Fold], limit_s: float | None, cell_s: float
) -> tuple[Spec, str | None]:
    """For a family that keeps its own time: the share of rows that leaves it enough rounds, and that in words.

    A share that an earlier fit settled on stays as it is.
    """
    if spec.settings or spec.row_share < 1:
        return spec, None
    columns = _columns(select_inputs(frame, problem), problem, spec)
    cells = columns * max((len(fold.train) for fold in folds), default=len(frame))
    most = float(MAX_CELLS)
    if limit_s is not None:
        fits = len(folds) + (1 if problem.time_column and len(folds) > 1 else 0)
        most = min(most, limit_s / max(fits, 1) / cell_s)
    enough = MIN_TAUGHT / max(cells / columns, 1)
    share = float(f"{max(most / cells, enough):.2g}")
    if share >= 1:
        return spec, None
    return replace(spec, row_share=share), f"Learned with {share:.2g} of the rows to keep its limits."


def _columns(inputs: pd.DataFrame, problem: Problem, spec: Spec) -> int:
    """How many are learned from: of a large table those that the recipe makes are counted on its last rows."""
    given = sum(TEXT_CELLS if _is_prose(inputs[name]) else 1 for name in inputs.columns)
    if given * len(inputs) < LARGE or not spec.recipe or contains_code(spec.recipe):
        return given
    made = make_recipe(problem, spec.recipe).fit_transform(inputs.tail(MIN_TAUGHT))
    return max(given, made.shape[1])


def _is_prose(column: pd.Series) -> bool:
    return (
        column.dtype.kind not in "iufbM"
        and is_prose(column, ColumnKind.TEXT)
        and column_kind(column) is ColumnKind.TEXT
    )


def _expected_s(frame: pd.DataFrame, problem: Problem, spec: Spec, folds: list[Fold]) -> float:
    """What all folds and the final fit would take, going by one fit on a tenth of a fold's rows."""
    labels, fold = make_labels(frame, problem), folds[-1]
    started = time.perf_counter()
    probe = replace(spec, row_share=PROBE_SHARE * spec.row_share)
    model = fit_rows(frame, labels, fold.train, problem, probe)
    fit_s = (time.perf_counter() - started) / PROBE_SHARE
    asked = fold.test[: max(int(len(fold.test) * PROBE_SHARE), 1)]
    started = time.perf_counter()
    output_of(model, select_inputs(frame, problem).iloc[asked], problem, spec.threads)
    # Predicting grows with the trees' size too, which a tenth of the rows does not show: twice as much.
    said_s = 2 * (time.perf_counter() - started) / PROBE_SHARE
    return fit_s * (len(folds) + 1.25) + said_s * len(folds)


def cut(problem: Problem, spec: Spec, share: float) -> tuple[Spec, str | None]:
    """The spec with about `share` of its work."""
    if share >= 1:
        return spec, None
    found = get_estimator_spec(spec.estimator, problem.kind)
    said = []
    if found.rounds_parameter:
        kept = max(share, MIN_ROUNDS)
        rounds = int({**found.defaults, **spec.hyperparameters}[found.rounds_parameter])
        fewer = max(10, int(rounds * kept))
        spec = replace(spec, hyperparameters={**spec.hyperparameters, found.rounds_parameter: fewer})
        said.append(f"{fewer} of {rounds} rounds")
        share /= kept
    if share < 1:
        spec = replace(spec, row_share=max(share * spec.row_share, 0.02))
        said.append(f"{spec.row_share:.0%} of the rows")
    return spec, f"Learned with {' and '.join(said)} to keep its time limit."
