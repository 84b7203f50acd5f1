"""How much worse a model gets when one raw column is shuffled, and how sure that is."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import norm

from app.modeling.explanation.subject import Deadline, Subject
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.results import Importance, ImportanceFacts
from app.modeling.scoring.scores import SCORERS, Predicted
from app.modeling.table.json_values import round_significant

MAX_ROWS = 1000
MIN_ROWS = 200
MIN_SLOW_ROWS = 40
"""Of a model that takes so long to answer that not even the fewest columns can be tried on more."""
MAX_COLUMNS, MIN_COLUMNS = 60, 8
RESAMPLES = 20
MISTAKEN = 0.05
"""How often a table of useless columns may have one that is said to help."""


def permutation_importance(
    subject: Subject,
    rows: pd.DataFrame,
    truth: np.ndarray,
    columns: Sequence[str],
    repeats: int = 5,
    seed: int = 0,
    deadline: Deadline | None = None,
) -> ImportanceFacts:
    """The metric's loss on `rows`, which did not teach, when one of `columns` is shuffled among them.

    Raw columns are shuffled before the recipe, so a column counts with everything made from it. The spread is
    that of the mean over repeats, on bootstrapped rows. A column helps when its loss is further above zero than
    any of so many useless columns gets by chance. A deadline cuts rows first, then the last of `columns`, then
    repeats; what was done is in the facts.
    """
    deadline = deadline or Deadline(None)
    rng = np.random.default_rng(seed)
    asked = list(columns)[:MAX_COLUMNS]
    rows, truth = _drawn(subject, rows, truth, MAX_ROWS, seed)
    base = subject.say(rows)
    rows, truth, base, many = _affordable(subject, rows, truth, base, len(asked), deadline)
    asked = asked[:many]
    said: dict[str, list[np.ndarray]] = {name: [] for name in asked}
    done = 0
    for _ in range(repeats):
        started = deadline.spent_s
        frames = [_shuffled(rows, name, rng) for name in asked]
        for name, output in zip(asked, subject.say_all(frames), strict=True):
            said[name].append(output)
        done += 1
        if deadline.left_s < deadline.spent_s - started:
            break
    loss = _Loss(subject, truth, base, rng)
    importances = [_summary(name, *loss.of(outputs), len(asked)) for name, outputs in said.items()]
    importances.sort(key=lambda importance: -importance["mean"])
    return {
        "metric": subject.problem.metric,
        "importances": importances,
        "repeats": done,
        "base_score": round_significant(loss.base),
        "rows": len(rows),
        "left_out": len(columns) - len(asked),
        "figures": [],
    }


def _drawn(
    subject: Subject, rows: pd.DataFrame, truth: np.ndarray, most: int, seed: int
) -> tuple[pd.DataFrame, np.ndarray]:
    places = subject.sample(len(rows), most, seed)
    return rows.iloc[places].reset_index(drop=True), truth[places]


def _affordable(
    subject: Subject,
    rows: pd.DataFrame,
    truth: np.ndarray,
    base: np.ndarray,
    columns: int,
    deadline: Deadline,
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray, int]:
    """As many of the rows as let every column be shuffled once, going by what the unshuffled ones took: at
    most, as one call for many columns takes less than a call for each. And how many columns, where even the
    fewest rows take too long."""
    if deadline.limit_s is None:
        return rows, truth, base, columns
    answers = max(deadline.left_s, 0.0) * len(rows) / max(deadline.spent_s, 1e-9)
    many = min(max(int(answers / min(MIN_ROWS, len(rows))), MIN_COLUMNS), columns)
    count = min(max(int(answers / max(many, 1)), MIN_SLOW_ROWS), len(rows))
    places = subject.sample(len(rows), count, 0)
    return rows.iloc[places].reset_index(drop=True), truth[places], base[places], many


def _shuffled(rows: pd.DataFrame, name: str, rng: np.random.Generator) -> pd.DataFrame:
    mixed = rows[name].take(rng.permutation(len(rows)))
    return rows.assign(**{name: mixed.set_axis(rows.index)})


class _Loss:
    """By how much the metric is worse for other outputs on the same rows, with its standard error."""

    def __init__(self, subject: Subject, truth: np.ndarray, base: np.ndarray, rng: np.random.Generator) -> None:
        problem = subject.problem
        self._score = SCORERS[problem.metric]
        self._sign = 1 if METRICS[problem.metric].greater_is_better else -1
        self._truth, self._problem = truth, problem
        self._resamples = [rng.integers(0, len(truth), len(truth)) for _ in range(RESAMPLES)]
        everything = np.arange(len(truth))
        self.base = self._of_rows(base, everything)
        self._resampled = [self._of_rows(base, rows) for rows in self._resamples]
        self._everything = everything

    def of(self, outputs: Sequence[np.ndarray]) -> tuple[float, float]:
        """Mean over the outputs, and its standard error; nan where the metric is not defined."""
        mean = self._worse(outputs, self._everything, self.base)
        worse = [
            self._worse(outputs, rows, base)
            for rows, base in zip(self._resamples, self._resampled, strict=True)
        ]
        known = [each for each in worse if np.isfinite(each)]
        return mean, float(np.std(known, ddof=1)) if len(known) > 1 else float("nan")

    def _worse(self, outputs: Sequence[np.ndarray], rows: np.ndarray, base: float) -> float:
        return self._sign * (base - float(np.mean([self._of_rows(output, rows) for output in outputs])))

    def _of_rows(self, output: np.ndarray, rows: np.ndarray) -> float:
        return self._score(Predicted.from_problem(self._problem, self._truth[rows], output[rows]))


def _summary(name: str, mean: float, std: float, columns: int) -> Importance:
    reach = float(norm.isf(MISTAKEN / max(columns, 1)))
    return {
        "column": name,
        "mean": round_significant(mean) or 0.0,
        "std": round_significant(std) or 0.0,
        "helps": bool(mean - reach * std > 0),  # false where either is unknown
    }
