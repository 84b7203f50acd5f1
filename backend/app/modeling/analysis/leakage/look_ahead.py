"""Detection of columns computed from later rows, in series that can hardly be forecast.

A fair column can explain as much of coming returns as the market allows, which is little. A column computed
with later rows (a centred average, a day's close on its morning rows, a return shifted the wrong way) is
explained by the returns that come after it, beyond what earlier returns explain.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from app.modeling.analysis.market_features import BARS
from app.modeling.facts.leaks import Leak
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import select_inputs
from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.table.json_values import round_significant
from app.modeling.table.numeric import to_float

SPANS = (1, 2, 3, 5, 10, 20, 50)
"""Rows over which returns are computed, back and ahead."""
SUSPECT, CERTAIN = 0.4, 0.6
"""Share of the variance not explained by earlier returns that later ones explain, on rows not fitted on."""
MIN_ROWS = 200
"""Rows with a value: two halves of fewer cannot fit and test the regression on seven spans."""
MAX_ROWS = 20_000
"""Latest rows that are used: more do not change the shares."""
MAX_FORECASTABLE = 0.05
"""Share of the next return that earlier ones explain: above it a column may foresee returns fairly."""


def find_peeking_columns(frame: pd.DataFrame, problem: Problem) -> list[Leak]:
    """Find inputs that peek ahead, in problems with a horizon; rows are in time order, of many the latest
    are used."""
    if not problem.horizon or column_kind(frame[problem.target]) is not ColumnKind.NUMBER:
        return []
    frame = frame.tail(MAX_ROWS)
    target = to_float(frame[problem.target])
    # Log returns need positive prices.
    if (target <= 0).any():
        return []
    groups = frame[problem.group_column] if problem.group_column else pd.Series("", index=frame.index)
    returns = _returns(target, groups)
    if len(frame) < MIN_ROWS or _explained_share(returns.ahead[:, :1], returns.back) > MAX_FORECASTABLE:
        return []
    inputs = select_inputs(frame, problem)
    fair = {problem.target, problem.time_column, problem.group_column, *_bars(inputs)}
    leaks = []
    for name in inputs.columns:
        if name in fair or column_kind(inputs[name]) is not ColumnKind.NUMBER:
            continue
        shapes = _transforms(to_float(inputs[name]), target, groups)
        share = max(_explained_by_later(shape, returns) for shape in shapes)
        if share >= SUSPECT:
            leaks.append(_leak(str(name), share))
    return sorted(leaks, key=lambda leak: (not leak["certain"], leak["column"]))


def _bars(inputs: pd.DataFrame) -> list[str]:
    """The columns of bars: the close of a bar fairly says much of the next bar's high."""
    names = {str(name).casefold(): str(name) for name in inputs.columns}
    return [names[key] for key in (*BARS, "volume") if key in names] if set(BARS) <= set(names) else []


class _Returns:
    def __init__(self, back: np.ndarray, ahead: np.ndarray) -> None:
        self.back, self.ahead = back, ahead
        self.both = np.column_stack([back, ahead])


def _returns(target: pd.Series, groups: pd.Series) -> _Returns:
    """Log returns over each span until now and from now, within each group."""
    level = pd.Series(np.log(target.to_numpy()), index=target.index)
    # A span must fit into a half of the rows many times to be learned there.
    spans = [span for span in SPANS if span <= max(1, len(target) // 40)]
    by_group = level.groupby(groups, sort=False)
    back = [(level - by_group.shift(span)).to_numpy() for span in spans]
    ahead = [(by_group.shift(-span) - level).to_numpy() for span in spans]
    return _Returns(np.column_stack(back), np.column_stack(ahead))


def _transforms(values: pd.Series, target: pd.Series, groups: pd.Series) -> Iterator[np.ndarray]:
    """The column as it is, how it changed, and beside the target: a level says little by itself."""
    yield values.to_numpy()
    yield (values - values.groupby(groups, sort=False).shift(1)).to_numpy()
    if (values > 0).mean() > 0.99:
        yield np.asarray(values / target - 1)


def _explained_by_later(values: np.ndarray, returns: _Returns) -> float:
    """Share of the variance unexplained by earlier returns that later returns explain."""
    if np.isfinite(values).sum() < MIN_ROWS or np.nanstd(values) == 0:
        return 0.0
    column = values[:, None]
    earlier_share = max(_explained_share(column, returns.back), 0.0)
    total_share = _explained_share(column, returns.both)
    return (total_share - earlier_share) / (1 - earlier_share) if earlier_share < 1 else 0.0


def _explained_share(target: np.ndarray, inputs: np.ndarray) -> float:
    """The lower share of variance explained of two: fitted on one half of the time, tested on the other."""
    rows = np.flatnonzero(np.isfinite(target).all(axis=1) & np.isfinite(inputs).all(axis=1))
    if len(rows) < MIN_ROWS // 2:
        return 0.0
    halves = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    # The lower one: what fits one half by chance does not fit the other.
    return min(_fit_and_test(target, inputs, *halves), _fit_and_test(target, inputs, *halves[::-1]))


def _fit_and_test(target: np.ndarray, inputs: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    design = np.column_stack([np.ones(len(inputs)), inputs])
    weights, *_ = np.linalg.lstsq(design[train], target[train, 0], rcond=None)
    truth = target[test, 0]
    spread = float(((truth - truth.mean()) ** 2).sum())
    if spread <= 0:
        return 0.0
    return 1 - float(((truth - design[test] @ weights) ** 2).sum()) / spread


def _leak(name: str, share: float) -> Leak:
    text = (
        f"{name!r} peeks ahead: later returns explain {share:.0%} of what earlier ones do not explain in it, so"
        " it was computed with later rows."
    )
    evidence = {"later_returns_explain": round_significant(share)}
    certain = share >= CERTAIN
    return {
        "column": name,
        "kind": "peeks_ahead",
        "text": text,
        "certain": certain,
        "evidence_of": "time",
        "evidence": evidence,
    }
