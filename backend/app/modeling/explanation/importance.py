"""Permutation importance of raw columns with intervals, on as many held-out rows as the time allows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from app.modeling.explanation.column_groups import ColumnGroup, group_columns
from app.modeling.explanation.explained_model import MAX_BATCH_ROWS, ExplainedModel
from app.modeling.explanation.prediction_clock import PredictionClock
from app.modeling.facts.computation_facts import Importance, ImportanceFacts
from app.modeling.problem.metrics import METRICS
from app.modeling.scoring.bootstrap_metrics import make_statistic
from app.modeling.scoring.independent_units import IndependentUnits, units_in_order
from app.modeling.scoring.intervals import draw_counts, make_resampling
from app.modeling.scoring.scores import SCORERS, Predicted
from app.modeling.table.json_values import round_significant
from app.modeling.training.deadline import Deadline

MAX_ROWS = 20_000
"""Rows that are shuffled: their interval is a seventh of that of 400 rows, and resampling takes 16 MB."""
MIN_ROWS = 200
"""Rows of the first pass as long as dropping columns saves the time."""
PROBE_ROWS = 30
"""Rows of the first call, which costs little beside what each call costs whatever its rows."""
MIN_SLOW_ROWS = 40
"""Rows for a model so slow that not even `MIN_COLUMNS` columns can be shuffled on more."""
MAX_COLUMNS, MIN_COLUMNS = 60, 8
"""Groups of columns that are shuffled, at most and whatever the time."""
MAX_FINALISTS, MIN_FINALISTS = 12, 2
"""Groups that are shuffled on all rows where there is no time for more."""
MIN_GAIN = 2
"""Times as many rows as in the first pass that a second one must have to be worth its time."""
FIRST_PASS_SHARE = 0.4
"""Share of the time for the first pass, if it must be on a part of the rows."""
MAX_RESAMPLES, MIN_RESAMPLES, RESAMPLED_ROWS = 100, 50, 500_000
"""Bootstrap samples, fewer of more rows: a standard error to 7 % to 10 %."""
MIN_JUDGED_ROWS, MIN_ROWS_OF_OTHER_CLASSES = 30, 10
"""Rows, and rows beside the commonest class, from which a column may be said to help: the bootstrap of fewer
knows their few errors only, and its interval is too narrow."""
FALSE_ALARM_RATE = 0.05
"""Probability that any of a table of useless columns is reported as helpful (Bonferroni)."""


@dataclass(frozen=True)
class GroupImportance:
    """Importance of a group. `resampled`: its bootstrap samples; `without`: predictions of the rows with the
    group shuffled, their mean over the repeats."""

    group: ColumnGroup
    mean: float
    resampled: np.ndarray
    without: np.ndarray
    rows: int
    repeats: int

    @property
    def std(self) -> float:
        # Samples without a class have no score; the spread of the few others would be too small.
        finite = self.resampled[np.isfinite(self.resampled)]
        if len(finite) < 0.9 * len(self.resampled) or len(finite) < 2:
            return float("nan")
        return float(finite.std(ddof=1))


@dataclass(frozen=True)
class ImportanceMeasurement:
    """Importances of groups of columns. `ranked`: on the same rows, the largest first; `screened`: on fewer
    rows, since a first pass showed them to be behind, or for lack of time."""

    subject: ExplainedModel
    rows: pd.DataFrame
    truth: np.ndarray
    base: np.ndarray
    counts: np.ndarray
    """How often each row is drawn (rows, resamples)."""
    units: IndependentUnits
    """Units that are drawn."""
    base_score: float
    ranked: Sequence[GroupImportance]
    screened: Sequence[GroupImportance]
    left_out: int
    available_rows: int
    """Rows that could have been shuffled, of which `rows` may be a part."""

    @property
    def measured(self) -> list[GroupImportance]:
        return [*self.ranked, *self.screened]

    def quantile(self, tail: float) -> float:
        """Return Student's t for as many units as were drawn, which few rows need."""
        return self.units.quantile(tail)

    @property
    def has_enough_rows(self) -> bool:
        """True if the held-out rows are enough to tell a helpful column from a useless one."""
        if not self.subject.problem.is_classification:
            return len(self.truth) >= MIN_JUDGED_ROWS
        counts = np.unique(self.truth, return_counts=True)[1]
        others = len(self.truth) - int(counts.max(initial=0))
        return len(self.truth) >= MIN_JUDGED_ROWS and others >= MIN_ROWS_OF_OTHER_CLASSES

    def helps(self, importance: GroupImportance) -> bool:
        """Test if an importance is above the largest of as many useless columns by chance; not on few rows."""
        if not self.has_enough_rows:
            return False
        # One-sided: a column whose shuffling improves the score does not help. False where either is unknown.
        return bool(importance.mean - self.half_width(importance) > 0)

    def half_width(self, importance: GroupImportance) -> float:
        """Return half of the interval of an importance, which lies above zero exactly where the group helps."""
        return self.quantile(FALSE_ALARM_RATE / max(len(self.measured), 2)) * importance.std

    def bounds(self, importance: GroupImportance) -> tuple[float | None, float | None]:
        """Return the ends of the interval of an importance; None where the rows are too few to know it."""
        if not self.has_enough_rows:
            return None, None
        half_width = self.half_width(importance)
        return round_significant(importance.mean - half_width), round_significant(importance.mean + half_width)

    def is_tested(self, importance: GroupImportance) -> bool:
        """Tell if rows enough were shuffled to say that a group does not help: all of those that there are."""
        return self.has_enough_rows and importance.rows >= self.available_rows

    def is_separated(self, ahead: GroupImportance, behind: GroupImportance) -> bool:
        """Test if one importance is above another beyond chance, by the difference on the same drawn rows.

        The first of many is compared with each of the others, so that the level is divided by their number.
        """
        reach = self.quantile(FALSE_ALARM_RATE / 2 / max(len(self.measured) - 1, 1))
        if ahead.rows == behind.rows:
            difference = ahead.resampled - behind.resampled
            finite = difference[np.isfinite(difference)]
            std = float(finite.std(ddof=1)) if len(finite) > 0.9 * len(difference) else float("nan")
        else:
            # On different rows the errors are independent, and their variances add up.
            std = float(np.hypot(ahead.std, behind.std))
        return bool(ahead.mean - behind.mean - reach * std > 0)

    def leaders(self) -> tuple[list[GroupImportance], bool]:
        """Return the helpful groups that no other is separated from, and if the first is separated from all.

        Empty if no group helps.
        """
        helpful = [importance for importance in self.measured if self.helps(importance)]
        if not helpful:
            return [], False
        first = max(helpful, key=lambda importance: importance.mean)
        rivals = [
            other for other in self.measured if other is not first and not self.is_separated(first, other)
        ]
        return [first, *(rival for rival in rivals if self.helps(rival))], not rivals

    def facts(self) -> ImportanceFacts:
        return {
            "metric": self.subject.problem.metric,
            "importances": [self._summary(importance) for importance in self.measured],
            "repeats": min((importance.repeats for importance in self.ranked), default=0),
            "base_score": round_significant(self.base_score),
            "rows": len(self.rows),
            "left_out": self.left_out,
            "figures": [],
        }

    def _summary(self, importance: GroupImportance) -> Importance:
        low, high = self.bounds(importance)
        return {
            "column": importance.group.label,
            "columns": list(importance.group.columns),
            "grouped_by": importance.group.reason,
            "mean": round_significant(importance.mean) or 0.0,
            "std": round_significant(importance.std) or 0.0,
            "low": low,
            "high": high,
            "rows": importance.rows,
            "helps": self.helps(importance),
            "is_tested": self.is_tested(importance),
        }


def permutation_importance(
    subject: ExplainedModel,
    rows: pd.DataFrame,
    truth: np.ndarray,
    columns: Sequence[str],
    repeats: int = 5,
    seed: int = 0,
    deadline: Deadline | None = None,
    units: IndependentUnits | None = None,
) -> ImportanceFacts:
    """Compute the facts of `measure_importances`, of a model without a threshold."""
    return measure_importances(subject, rows, truth, columns, repeats, seed, deadline, units=units).facts()


def measure_importances(
    subject: ExplainedModel,
    rows: pd.DataFrame,
    truth: np.ndarray,
    columns: Sequence[str],
    repeats: int = 5,
    seed: int = 0,
    deadline: Deadline | None = None,
    threshold: float | None = None,
    units: IndependentUnits | None = None,
) -> ImportanceMeasurement:
    """Measure the loss of the metric on `rows`, unseen in training, when a group of `columns` is shuffled.

    Raw columns are shuffled before the recipe, so a column counts with every feature made from it. `columns`:
    the most promising first. `units`: those of the rows, see `find_units`. All groups are shuffled on all
    rows, as often as the time allows; where it does not allow that once, a first pass on a part of the rows
    finds those that are worth all of them. At last columns are left out.
    """
    work = PredictionClock(subject, deadline or Deadline(None))
    rng = np.random.default_rng(seed)
    positions = subject.sample(len(rows), MAX_ROWS, seed)
    available_rows = len(positions)
    # Two calls measure the speed, before the rows are chosen by it: a call has a cost of its own, which would
    # make each row of a small table look slow.
    work.predict([rows.iloc[positions[:PROBE_ROWS]]])
    first_outputs = work.predict([rows.iloc[positions[:MIN_ROWS]]])[0]
    # Twice: the rows are predicted once as they are and at least once shuffled.
    if work.rows_left < 2 * len(positions):
        positions = subject.sample(len(rows), max(int(work.rows_left / 2), MIN_SLOW_ROWS), seed)
    units = (units or units_in_order(len(rows), subject.problem)).take(positions)
    rows, truth = rows.iloc[positions].reset_index(drop=True), truth[positions]
    groups = group_columns(rows, columns)
    count = min(max(int(work.rows_left / min(MIN_ROWS, len(rows))), MIN_COLUMNS), MAX_COLUMNS)
    # A small table was predicted already.
    outputs = first_outputs if len(first_outputs) == len(rows) else work.predict([rows])[0]
    sample = _HeldOutRows(subject, rows, truth, outputs, threshold, units, seed)
    sample, ranked, screened = _measure_groups(sample, groups[:count], repeats, work, rng)
    return ImportanceMeasurement(
        subject,
        sample.rows,
        sample.truth,
        sample.base,
        sample.counts,
        sample.units,
        sample.base_score,
        ranked,
        screened,
        sum(len(group.columns) for group in groups[count:]),
        available_rows,
    )


class _HeldOutRows:
    """Rows with their unshuffled predictions, and how often each bootstrap sample draws them."""

    def __init__(
        self,
        subject: ExplainedModel,
        rows: pd.DataFrame,
        truth: np.ndarray,
        base: np.ndarray,
        threshold: float | None,
        units: IndependentUnits,
        seed: int,
    ) -> None:
        self.rows, self.truth, self.base = rows, truth, base
        self._subject, self._threshold, self.units, self._seed = subject, threshold, units, seed
        resamples = int(np.clip(RESAMPLED_ROWS // max(len(rows), 1), MIN_RESAMPLES, MAX_RESAMPLES))
        resampling = replace(make_resampling(units), resamples=resamples)
        self._base_statistic = make_statistic(subject.problem.metric, self._predicted(base))
        self.counts = np.concatenate(list(draw_counts(resampling, np.random.default_rng(seed))), axis=1)
        self.base_score = self._score(base)

    def part(self, count: int) -> "_HeldOutRows":
        """Return a part of the rows with the same predictions."""
        if count >= len(self.rows):
            return self
        positions = self._subject.sample(len(self.rows), count, self._seed)
        return _HeldOutRows(
            self._subject,
            self.rows.iloc[positions].reset_index(drop=True),
            self.truth[positions],
            self.base[positions],
            self._threshold,
            self.units.take(positions),
            self._seed,
        )

    def shuffle(
        self, groups: Sequence[ColumnGroup], repeats: int, work: PredictionClock, rng: np.random.Generator
    ) -> list[GroupImportance]:
        """Shuffle each group, at least once and as often as the time allows."""
        tallies = [_Tally(group, self.counts.shape[1], self.base.shape) for group in groups]
        batch = max(1, MAX_BATCH_ROWS // max(len(self.rows), 1))
        done = 0
        pass_s = 0.0
        # A further pass is begun only if all groups can take part: importances are compared at equal repeats.
        while done < repeats and (
            not done or (work.rows_left >= len(groups) * len(self.rows) and work.left_s >= pass_s)
        ):
            left_s = work.left_s
            for start in range(0, len(tallies), batch):
                self._shuffle_batch(tallies[start : start + batch], work, rng)
            done += 1
            pass_s = left_s - work.left_s
        return [tally.importance(done, len(self.rows)) for tally in tallies]

    def _shuffle_batch(
        self, tallies: Sequence["_Tally"], work: PredictionClock, rng: np.random.Generator
    ) -> None:
        lenders = [rng.permutation(len(self.rows)) for _ in tallies]
        frames = [
            _shuffle_columns(self.rows, tally.group, lent) for tally, lent in zip(tallies, lenders, strict=True)
        ]
        for tally, lent, output in zip(tallies, lenders, work.predict(frames), strict=True):
            tally.add(output, *self._loss(output, lent))

    def _loss(self, output: np.ndarray, lenders: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the loss of the metric on all rows, and on each sample (resamples,).

        A shuffled row is made of two: the one that is predicted and the one at `lenders` whose values it got. A
        sample counts such a pair as often as it drew both, since a rare value matters wherever it is lent.
        Counting the first alone makes standard errors too small by up to a half.
        """
        metric = self._subject.problem.metric
        sign = 1 if METRICS[metric].greater_is_better else -1
        pairs = self.counts * self.counts[lenders]
        shuffled_statistic = make_statistic(metric, self._predicted(output))
        resampled = sign * (self._base_statistic(pairs) - shuffled_statistic(pairs))
        return sign * (self.base_score - self._score(output)), self._spread_out(resampled)

    def _spread_out(self, resampled: np.ndarray) -> np.ndarray:
        """Spread resampled losses as units vary around an unknown mean; a single unit has no spread at all."""
        count = self.units.count
        if count < 2:
            return np.full_like(resampled, np.nan)
        middle = np.nanmean(resampled) if np.isfinite(resampled).any() else 0.0
        spread: np.ndarray = middle + (resampled - middle) * np.sqrt(count / (count - 1))
        return spread

    def _score(self, output: np.ndarray) -> float:
        return SCORERS[self._subject.problem.metric](self._predicted(output))

    def _predicted(self, output: np.ndarray) -> Predicted:
        return Predicted.from_problem(self._subject.problem, self.truth, output, self._threshold)


class _Tally:
    """Sums of a group's losses and predictions over the repeats."""

    def __init__(self, group: ColumnGroup, resamples: int, shape: tuple[int, ...]) -> None:
        self.group = group
        self._loss, self._resampled, self._output = 0.0, np.zeros(resamples), np.zeros(shape)

    def add(self, output: np.ndarray, loss: float, resampled: np.ndarray) -> None:
        self._loss += loss
        self._resampled += resampled
        self._output += output

    def importance(self, repeats: int, rows: int) -> GroupImportance:
        mean = self._loss / repeats
        return GroupImportance(
            self.group, mean, self._resampled / repeats, self._output / repeats, rows, repeats
        )


def _measure_groups(
    sample: _HeldOutRows,
    groups: Sequence[ColumnGroup],
    repeats: int,
    work: PredictionClock,
    rng: np.random.Generator,
) -> tuple[_HeldOutRows, list[GroupImportance], list[GroupImportance]]:
    """Return the rows of the importances, the importances, and those of a first pass on fewer rows."""
    all_rows = len(sample.rows)
    if not groups or work.rows_left >= len(groups) * all_rows:
        return sample, _rank(sample.shuffle(groups, repeats, work, rng)), []
    first_rows = max(int(FIRST_PASS_SHARE * work.rows_left / len(groups)), min(MIN_SLOW_ROWS, all_rows))
    part = sample.part(first_rows)
    first = _rank(part.shuffle(groups, 1, work, rng))
    if work.rows_left >= len(groups) * all_rows:  # the first pass showed the model to be faster
        return sample, _rank(sample.shuffle(groups, repeats, work, rng)), []
    count = min(max(int(work.rows_left / all_rows), MIN_FINALISTS), MAX_FINALISTS, len(first))
    rows = min(int(work.rows_left / count), all_rows)
    # A few more rows would narrow no interval enough to be worth fewer columns.
    if rows < MIN_GAIN * first_rows:
        return part, first, []
    larger = sample.part(rows)
    ranked = larger.shuffle([entry.group for entry in first[:count]], repeats, work, rng)
    return larger, _rank(ranked), first[count:]


def _rank(importances: Sequence[GroupImportance]) -> list[GroupImportance]:
    return sorted(importances, key=lambda importance: -importance.mean)


def _shuffle_columns(rows: pd.DataFrame, group: ColumnGroup, lenders: np.ndarray) -> pd.DataFrame:
    return rows.assign(**{name: rows[name].take(lenders).set_axis(rows.index) for name in group.columns})
