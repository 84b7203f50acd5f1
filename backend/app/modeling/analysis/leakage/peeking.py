"""Columns of a series that hardly anybody can forecast, and that nevertheless know what comes next.

A fair column can say as much of coming returns as the market lets it, which is little. One that was computed
with later rows (a centred average, a day's close on its morning rows, a return shifted the wrong way) is
explained by the returns that come after it, beyond what those before it explain.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from app.modeling.analysis.market_features import BARS
from app.modeling.problem.problem import Problem
from app.modeling.problem.results import Leak
from app.modeling.recipe.recipe import select_inputs
from app.modeling.table.columns import ColumnKind, column_kind
from app.modeling.table.json_values import round_significant
from app.modeling.table.numeric import to_float

SPANS = (1, 2, 3, 5, 10, 20, 50)
"""Over how many rows returns are looked at, back and ahead."""
SUSPECT, CERTAIN = 0.4, 0.6
"""Share of what earlier returns leave open that later ones explain, on rows that were not used to find out."""
FEWEST = 200
MOST = 20_000
FORESEEN = 0.05
"""Share of the next return that earlier ones explain: beyond it the series is no market, forecasts are fair."""


def peeking(frame: pd.DataFrame, problem: Problem) -> list[Leak]:
    """Inputs that peek ahead, of a problem with a horizon; rows in order of time, of many the latest."""
    if not problem.horizon or column_kind(frame[problem.target]) is not ColumnKind.NUMBER:
        return []
    frame = frame.tail(MOST)
    target = to_float(frame[problem.target])
    if (target <= 0).any():
        return []
    groups = frame[problem.group_column] if problem.group_column else pd.Series("", index=frame.index)
    returns = _returns(target, groups)
    if len(frame) < FEWEST or _share(returns.ahead[:, :1], returns.back) > FORESEEN:
        return []
    inputs = select_inputs(frame, problem)
    fair = {problem.target, problem.time_column, problem.group_column, *_bars(inputs)}
    found = []
    for name in inputs.columns:
        if name in fair or column_kind(inputs[name]) is not ColumnKind.NUMBER:
            continue
        shapes = _shapes(to_float(inputs[name]), target, groups)
        share = max(_beyond(shape, returns) for shape in shapes)
        if share >= SUSPECT:
            found.append(_leak(str(name), share))
    return sorted(found, key=lambda leak: (not leak["certain"], leak["column"]))


def _bars(inputs: pd.DataFrame) -> list[str]:
    """The columns of bars, where there are bars: a bar's close tells of the next one's high, and may."""
    names = {str(name).casefold(): str(name) for name in inputs.columns}
    return [names[key] for key in (*BARS, "volume") if key in names] if set(BARS) <= set(names) else []


class _Returns:
    def __init__(self, back: np.ndarray, ahead: np.ndarray) -> None:
        self.back, self.ahead = back, ahead
        self.both = np.column_stack([back, ahead])


def _returns(target: pd.Series, groups: pd.Series) -> _Returns:
    """Log returns over each span until now and from now, of each group for itself."""
    level = pd.Series(np.log(target.to_numpy()), index=target.index)
    spans = [span for span in SPANS if span <= max(1, len(target) // 40)]
    by_group = level.groupby(groups, sort=False)
    back = [(level - by_group.shift(span)).to_numpy() for span in spans]
    ahead = [(by_group.shift(-span) - level).to_numpy() for span in spans]
    return _Returns(np.column_stack(back), np.column_stack(ahead))


def _shapes(values: pd.Series, target: pd.Series, groups: pd.Series) -> Iterator[np.ndarray]:
    """The column as it is, how it changed, and beside the target: a level says little by itself."""
    yield values.to_numpy()
    yield (values - values.groupby(groups, sort=False).shift(1)).to_numpy()
    if (values > 0).mean() > 0.99:
        yield np.asarray(values / target - 1)


def _beyond(values: np.ndarray, returns: _Returns) -> float:
    """What later returns add, as a share of what earlier ones leave open."""
    if np.isfinite(values).sum() < FEWEST or np.nanstd(values) == 0:
        return 0.0
    column = values[:, None]
    before = max(_share(column, returns.back), 0.0)
    whole = _share(column, returns.both)
    return (whole - before) / (1 - before) if before < 1 else 0.0


def _share(wanted: np.ndarray, given: np.ndarray) -> float:
    """The lower of two shares of variance explained: learned on one half of the time, tried on the other."""
    rows = np.flatnonzero(np.isfinite(wanted).all(axis=1) & np.isfinite(given).all(axis=1))
    if len(rows) < FEWEST // 2:
        return 0.0
    halves = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    return min(_tried(wanted, given, *halves), _tried(wanted, given, *halves[::-1]))


def _tried(wanted: np.ndarray, given: np.ndarray, taught: np.ndarray, tried: np.ndarray) -> float:
    design = np.column_stack([np.ones(len(given)), given])
    weights, *_ = np.linalg.lstsq(design[taught], wanted[taught, 0], rcond=None)
    truth = wanted[tried, 0]
    spread = float(((truth - truth.mean()) ** 2).sum())
    if spread <= 0:
        return 0.0
    return 1 - float(((truth - design[tried] @ weights) ** 2).sum()) / spread


def _leak(name: str, share: float) -> Leak:
    text = (
        f"{name!r} peeks ahead: later returns explain {share:.0%} of what earlier ones leave open in it, so it"
        " was computed with rows that come after."
    )
    evidence = {"later_returns_explain": round_significant(share)}
    certain = share >= CERTAIN
    return {"column": name, "kind": "peeks_ahead", "text": text, "certain": certain, "evidence": evidence}
