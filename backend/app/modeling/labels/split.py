"""The hold-out and the folds: rows that may teach, and rows that may judge."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from app.errors import InvalidInput
from app.modeling.labels.data_checks import check_enough, remarks
from app.modeling.labels.labels import label_times, make_labels
from app.modeling.labels.repeated_rows import Twins, find_twins
from app.modeling.labels.splitters import blocks_of, walk
from app.modeling.problem.problem import Problem


class SplitKind(StrEnum):
    STRATIFIED = "stratified"
    GROUPED = "grouped"
    TIME = "time"
    RANDOM = "random"


@dataclass(frozen=True)
class FoldPlan:
    """How rows are folded: of the same kind as the hold-out was taken."""

    kind: SplitKind
    count: int = 5
    seed: int = 0

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind.value, "count": self.count, "seed": self.seed}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        try:
            return cls(SplitKind(value["kind"]), int(value.get("count", 5)), int(value.get("seed", 0)))
        except (KeyError, ValueError) as error:
            raise InvalidInput("bad_folds", f"This is no plan of folds: {error}.") from error


@dataclass(frozen=True)
class Fold:
    """Positions of rows. `history`: rows that lie before the test rows in time (time only)."""

    train: np.ndarray
    test: np.ndarray
    history: np.ndarray | None = None


MIN_SHARE, USUAL_SHARE, SMALL_SHARE = 0.05, 0.2, 0.25
SMALL, ENOUGH_ROWS, ENOUGH_OF_CLASS = 500, 20_000, 400
"""Below `SMALL` rows more are held out; of many rows no more than tell a score well."""


def choose_share(labels: pd.Series, problem: Problem, kind: SplitKind) -> float:
    """How much to hold out: of many rows only as many as a score needs, so that the rest can teach."""
    rows = len(labels)
    if rows < SMALL:
        return SMALL_SHARE
    if kind in (SplitKind.TIME, SplitKind.GROUPED):
        return USUAL_SHARE
    needed = ENOUGH_ROWS
    if problem.is_classification:
        rarest = float(labels.value_counts(normalize=True).min())
        needed = max(needed, int(ENOUGH_OF_CLASS / max(rarest, 1e-3)))
    return float(np.clip(needed / rows, MIN_SHARE, USUAL_SHARE))


def choose_kind(problem: Problem) -> tuple[SplitKind, str]:
    """The kind of split and why, in a sentence."""
    if problem.time_column:
        gap = (
            f", with {_rows(problem.horizon)} before it that teach nothing, as far as labels look ahead"
            if problem.horizon
            else ""
        )
        return SplitKind.TIME, (
            f"Rows are ordered by {problem.time_column!r}, so the latest rows are the hold-out{gap}: "
            "a model is judged on a future that it has not seen."
        )
    if problem.group_column:
        return SplitKind.GROUPED, (
            f"Rows of the same {problem.group_column!r} belong together, so no group is on both sides."
        )
    if problem.is_classification:
        return (
            SplitKind.STRATIFIED,
            "Classes keep their shares on both sides, chosen at random with a fixed seed.",
        )
    return (
        SplitKind.RANDOM,
        "The target is a number and rows have no order or groups: chosen at random with a fixed seed.",
    )


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


@dataclass(frozen=True)
class Locked:
    """Train and hold-out rows of one table, and what was set aside before."""

    train: pd.DataFrame
    holdout: pd.DataFrame
    kind: SplitKind
    reason: str
    duplicates_removed: int
    unlabelled_removed: int
    notes: tuple[str, ...] = ()


def lock_holdout(table: pd.DataFrame, problem: Problem, seed: int, share: float | None = None) -> Locked:
    """Split once, before anyone looks.

    Rows without a label are left out (with a horizon they stay, as history), and so are repeated rows, unless
    repeats are most of the table. Rows that differ by a number of their own only stay on one side. `share`: of
    the rows to hold out, chosen where None. Raises InvalidInput `bad_share`, `too_little_data`, `single_class`,
    `too_few_of_class` or `no_inputs`.
    """
    if share is not None and not 0.05 <= share <= 0.5:
        raise InvalidInput("bad_share", f"The hold-out's share lies between 0.05 and 0.5, not {share}.")
    rows, unlabelled = _labelled(table, problem)
    rows, duplicates, notes = _without_repeats(rows)
    if problem.time_column:
        rows = rows.sort_values(problem.time_column, kind="stable")
    rows = rows.reset_index(drop=True)
    labels = make_labels(rows, problem)
    check_enough(rows, labels.dropna(), problem)
    kind, reason = choose_kind(problem)
    held = _held_out(rows, problem, kind, seed, share or choose_share(labels.dropna(), problem, kind))
    twins = find_twins(rows, problem)
    if kind in (SplitKind.STRATIFIED, SplitKind.RANDOM):
        held = _on_one_side(held, twins)
    train = rows.loc[~held].reset_index(drop=True)
    holdout = rows.loc[held].reset_index(drop=True)
    notes += remarks(rows, problem, twins, unlabelled, labels.to_numpy(), held)
    return Locked(train, holdout, kind, reason, duplicates, unlabelled, notes)


def _on_one_side(held: np.ndarray, twins: Twins) -> np.ndarray:
    """Held-out rows, without those whose twin may teach."""
    if not twins.rows:
        return held
    taught = np.unique(twins.codes[~held & (twins.codes >= 0)])
    return held & ~np.isin(twins.codes, taught)


def _labelled(table: pd.DataFrame, problem: Problem) -> tuple[pd.DataFrame, int]:
    known = table[problem.target].notna()
    if problem.time_column:
        known &= table[problem.time_column].notna()
    elif problem.group_column:
        known &= table[problem.group_column].notna()
    return table.loc[known], int((~known).sum())


def _without_repeats(rows: pd.DataFrame) -> tuple[pd.DataFrame, int, tuple[str, ...]]:
    repeated = rows.duplicated()
    count = int(repeated.sum())
    if count > len(rows) / 2:
        return (
            rows,
            0,
            (f"{count} rows repeat another one; most of the table does, so they were kept.",),
        )
    return rows.loc[~repeated], count, ()


def _held_out(rows: pd.DataFrame, problem: Problem, kind: SplitKind, seed: int, share: float) -> np.ndarray:
    held = np.zeros(len(rows), dtype=bool)
    if kind is SplitKind.TIME:
        times = rows[problem.time_column]
        latest: np.ndarray = (times >= _first_held_out(times, share)).to_numpy()
        return latest
    held[_drawn(rows, problem, kind, seed, share)] = True
    return held


def _first_held_out(times: pd.Series, share: float) -> Any:
    """The moment from which rows are held out, of times in order: some rows must lie before it."""
    first = times.iloc[int(len(times) * (1 - share))]
    if first > times.iloc[0]:
        return first
    later = times[times > first]
    if later.empty:
        raise InvalidInput(
            "too_little_data", f"All rows have the same {times.name!r}: none is later, to judge a model by."
        )
    return later.iloc[0]


def _drawn(rows: pd.DataFrame, problem: Problem, kind: SplitKind, seed: int, share: float) -> np.ndarray:
    if kind is SplitKind.GROUPED:
        return folds(rows, problem, FoldPlan(kind, round(1 / share), seed))[0].test
    labels = make_labels(rows, problem)
    counts = labels.value_counts()
    one_of_each = kind is SplitKind.STRATIFIED and counts.min() >= 2 and len(counts) <= share * len(rows)
    splitter = StratifiedShuffleSplit if one_of_each else ShuffleSplit
    _, held = next(splitter(1, test_size=share, random_state=seed).split(rows, labels))
    drawn: np.ndarray = held
    return drawn


def folds(frame: pd.DataFrame, problem: Problem, plan: FoldPlan) -> list[Fold]:
    """Folds over the labelled rows of a frame, by position; raises InvalidInput `too_little_data`.

    A fold whose training rows are all of one class has nothing to teach and is left out.
    """
    labels = make_labels(frame, problem)
    known = np.flatnonzero(labels.notna().to_numpy())
    if plan.kind is SplitKind.TIME:
        made = _time_folds(frame, problem, known, plan.count)
    else:
        pairs = _splitter(frame.iloc[known], problem, labels.iloc[known], plan)
        made = [Fold(known[train], known[test]) for train, test in pairs]
    teaching = [fold for fold in made if labels.iloc[fold.train].nunique() > 1]
    _at_least_two(len(teaching))
    return teaching


def _splitter(frame: pd.DataFrame, problem: Problem, labels: pd.Series, plan: FoldPlan) -> Any:
    """scikit-learn's own splitters, with as many folds as the rarest class or the groups allow."""
    count = min(plan.count, len(frame) // 2)
    if plan.kind is SplitKind.GROUPED:
        groups = frame[problem.group_column].astype("str").to_numpy()
        count = min(count, len(np.unique(groups)))
        _at_least_two(count)
        if problem.is_classification:
            # StratifiedGroupKFold warns and does little where a class has fewer groups than folds.
            enough = (
                labels.groupby(groups).first().groupby(labels.groupby(groups).first()).size().min() >= count
            )
            if enough:
                made = StratifiedGroupKFold(count, shuffle=True, random_state=plan.seed)
                return made.split(frame, labels, groups)
        return GroupKFold(count, shuffle=True, random_state=plan.seed).split(frame, labels, groups)
    if plan.kind is SplitKind.STRATIFIED:
        strata = _strata(labels, count)
        rarest = int(strata.value_counts().min())
        if rarest >= 2:
            count = min(count, rarest)
            return StratifiedKFold(count, shuffle=True, random_state=plan.seed).split(frame, strata)
    _at_least_two(count)
    return KFold(count, shuffle=True, random_state=plan.seed).split(frame)


def _strata(labels: pd.Series, count: int) -> pd.Series:
    """Classes to share out among folds, those with fewer rows than folds taken together."""
    counts = labels.value_counts()
    rare = counts.index[counts < count]
    together = -1 if counts[rare].sum() >= count else counts.index[0]
    merged = labels.where(~labels.isin(rare), together)
    return merged if merged.nunique() > 1 else labels


def _at_least_two(count: int) -> None:
    if count < 2:
        raise InvalidInput(
            "too_little_data", "There are too few rows, groups or moments of each class for two folds."
        )


def _time_folds(frame: pd.DataFrame, problem: Problem, known: np.ndarray, count: int) -> list[Fold]:
    """Growing windows: each fold tests the rows after those it learns from.

    A row whose label is known only when the test rows have begun may not teach (the embargo).
    """
    times = frame[problem.time_column].to_numpy()
    known_at = label_times(frame, problem).to_numpy()
    begins, ends = times[known], known_at[known] if problem.horizon else None
    return [
        Fold(known[train], known[test], np.flatnonzero(times < begins[test[0]]))
        for train, test in walk(blocks_of(begins, count + 1), begins, ends)
        if len(train)
    ]
