"""Permutation importance of raw columns, with standard errors."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import norm

from app.modeling.explanation.explained_model import Deadline, ExplainedModel
from app.modeling.facts.computation_facts import Importance, ImportanceFacts
from app.modeling.problem.metrics import METRICS
from app.modeling.scoring.scores import SCORERS, Predicted
from app.modeling.table.json_values import round_significant

MAX_ROWS = 1000
"""Rows that are shuffled: their error is then below that of the few repeats."""
MIN_ROWS = 200
"""Rows that are kept as long as dropping columns saves the time."""
MIN_SLOW_ROWS = 40
"""Rows for a model so slow that not even `MIN_COLUMNS` columns can be shuffled on more."""
MAX_COLUMNS, MIN_COLUMNS = 60, 8
"""Columns that are shuffled, at most and whatever the time."""
RESAMPLES = 20
"""Bootstrap samples: a standard error to 16%."""
FALSE_ALARM_RATE = 0.05
"""Probability that any of a table of useless columns is reported as helpful (Bonferroni)."""


def permutation_importance(
    subject: ExplainedModel,
    rows: pd.DataFrame,
    truth: np.ndarray,
    columns: Sequence[str],
    repeats: int = 5,
    seed: int = 0,
    deadline: Deadline | None = None,
) -> ImportanceFacts:
    """Compute the loss of the metric on `rows`, unseen in training, when one of `columns` is shuffled.

    Raw columns are shuffled before the recipe, so a column counts with every feature made from it. The standard
    error is that of the mean over repeats, on bootstrapped rows. A column helps if its loss is further above
    zero than the largest of as many useless columns by chance. A deadline reduces rows first, then drops the
    last of `columns`, then repeats; the facts hold the resulting numbers.
    """
    deadline = deadline or Deadline(None)
    rng = np.random.default_rng(seed)
    shuffled = list(columns)[:MAX_COLUMNS]
    rows, truth = _sample_rows(subject, rows, truth, MAX_ROWS, seed)
    base = subject.predict(rows)
    rows, truth, base, column_count = _fit_to_deadline(subject, rows, truth, base, len(shuffled), deadline)
    shuffled = shuffled[:column_count]
    outputs: dict[str, list[np.ndarray]] = {name: [] for name in shuffled}
    repeats_done = 0
    for _ in range(repeats):
        started = deadline.spent_s
        frames = [_shuffle_column(rows, name, rng) for name in shuffled]
        for name, output in zip(shuffled, subject.predict_frames(frames), strict=True):
            outputs[name].append(output)
        repeats_done += 1
        if deadline.left_s < deadline.spent_s - started:
            break
    loss = _Loss(subject, truth, base, rng)
    importances = [
        _summary(name, *loss.mean_and_error(by_repeat), len(shuffled)) for name, by_repeat in outputs.items()
    ]
    importances.sort(key=lambda importance: -importance["mean"])
    return {
        "metric": subject.problem.metric,
        "importances": importances,
        "repeats": repeats_done,
        "base_score": round_significant(loss.base),
        "rows": len(rows),
        "left_out": len(columns) - len(shuffled),
        "figures": [],
    }


def _sample_rows(
    subject: ExplainedModel, rows: pd.DataFrame, truth: np.ndarray, max_rows: int, seed: int
) -> tuple[pd.DataFrame, np.ndarray]:
    positions = subject.sample(len(rows), max_rows, seed)
    return rows.iloc[positions].reset_index(drop=True), truth[positions]


def _fit_to_deadline(
    subject: ExplainedModel,
    rows: pd.DataFrame,
    truth: np.ndarray,
    base: np.ndarray,
    columns: int,
    deadline: Deadline,
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray, int]:
    """Reduce the rows so that every column can be shuffled once, going by the time of the unshuffled rows; then
    the columns.

    The estimate is an upper bound, because one call for many columns takes less time than a call for each.
    """
    if deadline.limit_s is None:
        return rows, truth, base, columns
    predictable_rows = max(deadline.left_s, 0.0) * len(rows) / max(deadline.spent_s, 1e-9)
    column_count = min(max(int(predictable_rows / min(MIN_ROWS, len(rows))), MIN_COLUMNS), columns)
    count = min(max(int(predictable_rows / max(column_count, 1)), MIN_SLOW_ROWS), len(rows))
    positions = subject.sample(len(rows), count, 0)
    return rows.iloc[positions].reset_index(drop=True), truth[positions], base[positions], column_count


def _shuffle_column(rows: pd.DataFrame, name: str, rng: np.random.Generator) -> pd.DataFrame:
    values = rows[name].take(rng.permutation(len(rows)))
    return rows.assign(**{name: values.set_axis(rows.index)})


class _Loss:
    """Loss of the metric for other outputs on the same rows, with its standard error."""

    def __init__(
        self, subject: ExplainedModel, truth: np.ndarray, base: np.ndarray, rng: np.random.Generator
    ) -> None:
        problem = subject.problem
        self._score = SCORERS[problem.metric]
        self._sign = 1 if METRICS[problem.metric].greater_is_better else -1
        self._truth, self._problem = truth, problem
        self._resamples = [rng.integers(0, len(truth), len(truth)) for _ in range(RESAMPLES)]
        everything = np.arange(len(truth))
        self.base = self._score_rows(base, everything)
        self._resampled = [self._score_rows(base, rows) for rows in self._resamples]
        self._everything = everything

    def mean_and_error(self, outputs: Sequence[np.ndarray]) -> tuple[float, float]:
        """Return the mean loss over the outputs, and its standard error; nan if the metric is not defined."""
        mean = self._mean_loss(outputs, self._everything, self.base)
        resampled = [
            self._mean_loss(outputs, rows, base)
            for rows, base in zip(self._resamples, self._resampled, strict=True)
        ]
        finite = [loss for loss in resampled if np.isfinite(loss)]
        return mean, float(np.std(finite, ddof=1)) if len(finite) > 1 else float("nan")

    def _mean_loss(self, outputs: Sequence[np.ndarray], rows: np.ndarray, base: float) -> float:
        return self._sign * (base - float(np.mean([self._score_rows(output, rows) for output in outputs])))

    def _score_rows(self, output: np.ndarray, rows: np.ndarray) -> float:
        return self._score(Predicted.from_problem(self._problem, self._truth[rows], output[rows]))


def _summary(name: str, mean: float, std: float, columns: int) -> Importance:
    reach = float(norm.isf(FALSE_ALARM_RATE / max(columns, 1)))
    return {
        "column": name,
        "mean": round_significant(mean) or 0.0,
        "std": round_significant(std) or 0.0,
        "helps": bool(mean - reach * std > 0),  # false where either is unknown
    }
