"""The hold-out split and the cross-validation folds."""

from dataclasses import dataclass
from typing import Any

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

from app.counts import describe_count
from app.errors import InvalidInput
from app.modeling.labels.labels import label_times, make_labels
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.problem import Problem
from app.modeling.splits.data_checks import MIN_JUDGED_MOMENTS, check_enough, check_judged, split_notes
from app.modeling.splits.groups import find_groups, group_labels
from app.modeling.splits.late_columns import LateColumns, draw_late_rows, find_late_columns, start_after
from app.modeling.splits.repeated_rows import NearDuplicates, find_near_duplicates
from app.modeling.splits.walk_forward import time_blocks, walk_forward


@dataclass(frozen=True)
class Fold:
    """Row positions of a fold. `history`: rows that lie before the test rows in time (time splits only)."""

    train: np.ndarray
    test: np.ndarray
    history: np.ndarray | None = None


MIN_SHARE, USUAL_SHARE, SMALL_SHARE = 0.05, 0.2, 0.25
"""Shares of rows held out: of a very large table, usually, and of a table below `SMALL_ROWS` rows."""
SERIES_SHARE = 1 / 3
"""Share of the time of a series whose every step is forecast: what comes differs from year to year, so that a
claim needs more of it. The delivered model learns from all rows."""
MIN_SERIES_MOMENTS, MIN_TRAIN_HORIZONS = 60, 4
"""Moments of a series, and horizons of its training part, from which a third can be spared: five years of
months, and enough to fit methods on."""
SMALL_ROWS = 500
"""Below this, a fifth of the rows is too few to score a model."""
ENOUGH_ROWS, ENOUGH_CLASS_ROWS = 20_000, 400
"""Held-out rows, and rows of the rarest class: 20,000 measure an accuracy to 0.7 points and 400 a recall to 5
(95%); holding out more only costs training rows."""


MAX_SIZE_MISS = 0.25
"""Rows that a hold-out of whole groups may miss of those it should have, as a share of these: groups differ in
size, so that no draw of them fits."""


def choose_share(labels: pd.Series, problem: Problem, kind: SplitKind, moments: int = 0) -> float:
    """Choose the share of rows to hold out: of many rows only as many as a score needs.

    `moments`: distinct times of rows whose every step is forecast; 0 for other problems.
    """
    rows = len(labels)
    # The factor 1.5 undoes the third that is held out: the horizons must fit into the rest.
    if moments >= max(MIN_SERIES_MOMENTS, 1.5 * MIN_TRAIN_HORIZONS * (problem.horizon or 0)):
        return SERIES_SHARE
    if rows < SMALL_ROWS:
        return SMALL_SHARE
    # Rows of one time or group vary together, so counts for independent rows do not suffice.
    if kind in (SplitKind.TIME, SplitKind.GROUPED):
        return USUAL_SHARE
    needed = ENOUGH_ROWS
    if problem.is_classification:
        rarest = float(labels.value_counts(normalize=True).min())
        # A class below one row in a thousand is not measured that well: it would cost too many training rows.
        needed = max(needed, int(ENOUGH_CLASS_ROWS / max(rarest, 1e-3)))
    return float(np.clip(needed / rows, MIN_SHARE, USUAL_SHARE))


def choose_kind(problem: Problem, seed: int | None = None) -> tuple[SplitKind, str]:
    """Choose the kind of split; return it with the reason as a sentence, which names the seed of a draw."""
    draw = "chosen at random" if seed is None else f"chosen at random with the seed {seed}"
    if problem.time_column:
        gap = (
            f", with {describe_count(problem.horizon, 'row')} before it left out of training, because labels"
            " look ahead"
            if problem.horizon
            else ""
        )
        return SplitKind.TIME, (
            f"Rows are ordered by {problem.time_column!r}, so the latest rows are the hold-out{gap}: "
            "the model is judged on a future that it has not seen."
        )
    if problem.group_column:
        return SplitKind.GROUPED, (
            f"Rows of the same {' and '.join(map(repr, problem.group_columns))} belong together, so no group"
            " is on both sides."
        )
    if problem.is_classification:
        return (
            SplitKind.STRATIFIED,
            f"Classes keep their shares on both sides, {draw}.",
        )
    return (
        SplitKind.RANDOM,
        f"The target is a number and rows have no order or groups: {draw}.",
    )


UNSTRUCTURED_KINDS = (SplitKind.STRATIFIED, SplitKind.RANDOM)
"""Kinds of splits that draw rows one by one, so that equal rows have to be kept together."""


@dataclass(frozen=True)
class HoldoutSplit:
    """Training and hold-out rows of one table. `equal_rows`: those that equal another one, all of them kept;
    `together_rows`: those of them that stay on one side of every split. Unlabelled rows are removed."""

    train: pd.DataFrame
    holdout: pd.DataFrame
    kind: SplitKind
    reason: str
    equal_rows: int
    together_rows: int
    unlabelled_removed: int
    notes: tuple[str, ...] = ()


def find_unjudged_columns(
    table: pd.DataFrame, problem: Problem, seed: int, share: float | None = None
) -> LateColumns | None:
    """Find inputs that only the latest time has, so that no hold-out of later rows judges them.

    None without any. A model without them, or judged without them, would not be the one for coming rows.
    `split_holdout` takes them with the problem without its time column.
    """
    if problem.time_column is None or problem.horizon:
        return None
    rows, _ = _labelled_rows(table, problem)
    times = rows[problem.time_column].sort_values(kind="stable")
    if times.nunique() < 2:
        return None
    share = share or choose_share(make_labels(rows, problem).dropna(), problem, SplitKind.TIME)
    late = find_late_columns(rows, problem, _holdout_start(times, share))
    is_unjudged = late is not None and start_after(late, times) is None
    return late if is_unjudged and _draw_late_rows(rows, problem, late, seed, share) is not None else None


def split_holdout(
    table: pd.DataFrame,
    problem: Problem,
    seed: int,
    share: float | None = None,
    late: LateColumns | None = None,
) -> HoldoutSplit:
    """Split off the hold-out once, before any analysis of the data.

    Rows without a label are left out (with a horizon they stay, as history). Rows that equal another one, apart
    from an identifier, stay on one side if that is no coincidence. `share`: share of the rows to hold out,
    chosen from the data if None. `late`: of `find_unjudged_columns`. Raises InvalidInput `bad_share`,
    `too_little_data`, `single_class`, `too_few_of_class` or `no_inputs`.
    """
    if share is not None and not 0.05 <= share <= 0.5:
        raise InvalidInput("bad_share", f"The hold-out share must be between 0.05 and 0.5, not {share}.")
    rows, unlabelled = _labelled_rows(table, problem)
    if problem.time_column:
        # Stable, so that rows of one moment keep the order of the file and the split can be repeated.
        rows = rows.sort_values(problem.time_column, kind="stable")
    rows = rows.reset_index(drop=True)
    labels = make_labels(rows, problem)
    check_enough(rows, labels.dropna(), problem)
    kind, reason = choose_kind(problem, seed)
    moments = rows[problem.time_column].nunique() if problem.time_column and problem.every_step else 0
    if share is None:
        share = choose_share(labels.dropna(), problem, kind, moments)
        if problem.horizon:
            share = max(share, _judging_share(rows[problem.time_column], problem))
    late_rows = _draw_late_rows(rows, problem, late, seed, share)
    if late is not None and late_rows is not None:
        is_holdout, reason = late_rows, late.reason
    else:
        is_holdout = _holdout_mask(rows, problem, kind, seed, share)
    # Found before the rows are parted, since a copy may lie on the other side.
    duplicates = find_near_duplicates(rows, problem)
    # Times and groups decide by themselves: a moved row would be a later one that teaches earlier ones.
    if kind in UNSTRUCTURED_KINDS:
        is_holdout = _keep_duplicates_together(is_holdout, duplicates)
    train = rows.loc[~is_holdout].reset_index(drop=True)
    holdout = rows.loc[is_holdout].reset_index(drop=True)
    # Of every step the near ones are judged by any hold-out.
    if problem.horizon and not problem.every_step:
        check_judged(labels[is_holdout], problem)
    notes = split_notes(rows, problem, duplicates, unlabelled, labels.to_numpy(), is_holdout)
    equal_rows = int(rows.duplicated(keep=False).sum())
    return HoldoutSplit(train, holdout, kind, reason, equal_rows, duplicates.rows, unlabelled, notes)


def _judging_share(times: pd.Series, problem: Problem) -> float:
    """The share of rows that the hold-out needs for labels beyond its horizon, at most half of the moments.

    The last rows of a hold-out, as many as the horizon is long, have no label. Labels of neighbours overlap, so
    that two horizons of others are needed for as many independent ones; every step needs a few of the farthest.
    """
    moments = np.sort(times.unique())
    horizon = problem.horizon or 0
    judged_moments = MIN_JUDGED_MOMENTS if problem.every_step else max(MIN_JUDGED_MOMENTS, 2 * horizon)
    holdout_moments = min(horizon + judged_moments, len(moments) // 2)
    return float((times >= moments[len(moments) - max(holdout_moments, 1)]).mean())


def _keep_duplicates_together(is_holdout: np.ndarray, duplicates: NearDuplicates) -> np.ndarray:
    """Mask of hold-out rows (rows,), where each row is on the side of the first one that it equals.

    The hold-out keeps its size however many rows have an equal one.
    """
    if not duplicates.rows:
        return is_holdout
    repeated = np.flatnonzero(duplicates.codes >= 0)
    _, first, inverse = np.unique(duplicates.codes[repeated], return_index=True, return_inverse=True)
    moved = is_holdout.copy()
    moved[repeated] = is_holdout[repeated[first]][inverse]
    return moved


def _labelled_rows(table: pd.DataFrame, problem: Problem) -> tuple[pd.DataFrame, int]:
    """Rows with a target and, where one orders or groups them, a time or group; and the count of the others."""
    usable = table[problem.target].notna()
    if problem.time_column:
        usable &= table[problem.time_column].notna()
    # A split in time does not look at groups, so a row without one is no obstacle there.
    for name in () if problem.time_column else problem.group_columns:
        usable &= table[name].notna()
    return table.loc[usable], int((~usable).sum())


def _draw_late_rows(
    rows: pd.DataFrame, problem: Problem, late: LateColumns | None, seed: int, share: float
) -> np.ndarray | None:
    if late is None:
        return None
    groups = find_groups(rows, problem)
    return draw_late_rows(late, rows[late.time_column], int(share * len(rows)), seed, groups)


def _holdout_mask(rows: pd.DataFrame, problem: Problem, kind: SplitKind, seed: int, share: float) -> np.ndarray:
    """Mask (rows,) of the rows to hold out."""
    is_holdout = np.zeros(len(rows), dtype=bool)
    if kind is SplitKind.TIME:
        times = rows[problem.time_column]
        start = _holdout_start(times, share)
        late = None if problem.horizon else find_late_columns(rows, problem, start)
        moved = start_after(late, times) if late else None
        latest: np.ndarray = (times >= (start if moved is None else moved)).to_numpy()
        return latest
    is_holdout[_draw_holdout(rows, problem, kind, seed, share)] = True
    return is_holdout


def _holdout_start(times: pd.Series, share: float) -> Any:
    """The time from which rows are held out; `times` are in order, and some rows must lie before it."""
    # The cut is a moment, not a row, so that rows of one moment are never on both sides.
    first = times.iloc[int(len(times) * (1 - share))]
    if first > times.iloc[0]:
        return first
    later = times[times > first]
    if later.empty:
        raise InvalidInput(
            "too_little_data",
            f"All rows have the same {times.name!r}, so there are no later rows to judge a model on.",
        )
    return later.iloc[0]


def _draw_holdout(rows: pd.DataFrame, problem: Problem, kind: SplitKind, seed: int, share: float) -> np.ndarray:
    """Positions of randomly drawn hold-out rows."""
    # A fold instead of GroupShuffleSplit, which would not keep the shares of the classes.
    if kind is SplitKind.GROUPED:
        folds = [fold.test for fold in make_folds(rows, problem, FoldPlan(kind, round(1 / share), seed))]
        # Folds have as many groups, not as many rows: one with a giant group may hold most of them.
        misses = [abs(len(test) - share * len(rows)) for test in folds]
        is_near = misses[0] <= MAX_SIZE_MISS * share * len(rows)
        return folds[0 if is_near else int(np.argmin(misses))]
    labels = make_labels(rows, problem)
    counts = labels.value_counts()
    # scikit-learn refuses to stratify a class of one row, or more classes than rows held out.
    one_of_each = kind is SplitKind.STRATIFIED and counts.min() >= 2 and len(counts) <= share * len(rows)
    splitter = StratifiedShuffleSplit if one_of_each else ShuffleSplit
    _, positions = next(splitter(1, test_size=share, random_state=seed).split(rows, labels))
    holdout: np.ndarray = positions
    return holdout


def make_folds(
    frame: pd.DataFrame, problem: Problem, plan: FoldPlan, labels: pd.Series | None = None
) -> list[Fold]:
    """Make folds over the labelled rows of a frame, by position; raises InvalidInput `too_little_data`.

    A fold whose training rows all have one class is left out. `labels`: those of the frame, if already made.
    """
    labels = make_labels(frame, problem) if labels is None else labels
    labelled = np.flatnonzero(labels.notna().to_numpy())
    if plan.kind is SplitKind.TIME:
        candidates = _time_folds(frame, problem, labelled, plan.count)
    else:
        pairs = list(_split_pairs(frame.iloc[labelled], problem, labels.iloc[labelled], plan))
        if plan.equal_rows_together and plan.kind in UNSTRUCTURED_KINDS:
            pairs = _move_equal_rows(pairs, find_near_duplicates(frame.iloc[labelled], problem).codes)
        candidates = [Fold(labelled[train], labelled[test]) for train, test in pairs]
    trainable = [fold for fold in candidates if labels.iloc[fold.train].nunique() > 1]
    _require_two_folds(len(trainable))
    return trainable


def _split_pairs(frame: pd.DataFrame, problem: Problem, labels: pd.Series, plan: FoldPlan) -> Any:
    """Positions of training and test rows by scikit-learn's splitters, with at most as many folds as the
    rarest class or the groups allow."""
    count = min(plan.count, len(frame) // 2)
    if plan.kind is SplitKind.GROUPED:
        groups = group_labels(frame, problem)
        count = min(count, len(np.unique(groups)))
        _require_two_folds(count)
        if problem.is_classification:
            # StratifiedGroupKFold warns and does little where a class has fewer groups than folds.
            stratifiable = (
                labels.groupby(groups).first().groupby(labels.groupby(groups).first()).size().min() >= count
            )
            if stratifiable:
                splitter = StratifiedGroupKFold(count, shuffle=True, random_state=plan.seed)
                return splitter.split(frame, labels, groups)
        return GroupKFold(count, shuffle=True, random_state=plan.seed).split(frame, labels, groups)
    if plan.kind is SplitKind.STRATIFIED:
        # scikit-learn warns of a class with fewer rows than folds, and leaves it out of some of them.
        strata = _stratify_labels(labels, count)
        rarest = int(strata.value_counts().min())
        if rarest >= 2:
            count = min(count, rarest)
            return StratifiedKFold(count, shuffle=True, random_state=plan.seed).split(frame, strata)
    _require_two_folds(count)
    return KFold(count, shuffle=True, random_state=plan.seed).split(frame)


def _move_equal_rows(
    pairs: list[tuple[np.ndarray, np.ndarray]], codes: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Move each row to the fold of the first row that it equals. `codes` (rows,): see `NearDuplicates`."""
    fold_of_row = np.full(len(codes), -1)
    for number, (_, test) in enumerate(pairs):
        fold_of_row[test] = number
    repeated = np.flatnonzero(codes >= 0)
    _, first, inverse = np.unique(codes[repeated], return_index=True, return_inverse=True)
    fold_of_row[repeated] = fold_of_row[repeated[first]][inverse]
    return [
        (np.flatnonzero(fold_of_row != number), np.flatnonzero(fold_of_row == number))
        for number in range(len(pairs))
    ]


def _stratify_labels(labels: pd.Series, count: int) -> pd.Series:
    """Classes to distribute over folds; classes with fewer rows than folds are merged into one."""
    counts = labels.value_counts()
    rare = counts.index[counts < count]
    # Rare classes too few for a row in each fold, even together, join the commonest one.
    rare_class = -1 if counts[rare].sum() >= count else counts.index[0]
    merged = labels.where(~labels.isin(rare), rare_class)
    return merged if merged.nunique() > 1 else labels


def _require_two_folds(count: int) -> None:
    if count < 2:
        raise InvalidInput(
            "too_little_data", "There are too few rows, groups or moments of each class for two folds."
        )


def _time_folds(frame: pd.DataFrame, problem: Problem, labelled: np.ndarray, count: int) -> list[Fold]:
    """Growing windows: each fold tests rows that lie after those it trains on.

    A row whose label is known only after the test rows have begun is left out of training (purging).
    """
    times = frame[problem.time_column].to_numpy()
    known_at = label_times(frame, problem).to_numpy()
    # Without a horizon a label is known with its row.
    begins, ends = times[labelled], known_at[labelled] if problem.horizon else None
    return [
        # The history has rows without a label too: lags and averages of the test rows reach into them.
        Fold(labelled[train], labelled[test], np.flatnonzero(times < begins[test[0]]))
        # One block more than folds: the first one only trains.
        for train, test in walk_forward(time_blocks(begins, count + 1), begins, ends)
        if len(train)
    ]
