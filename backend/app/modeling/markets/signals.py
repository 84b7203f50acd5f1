"""From what a model says of the next bars to what is held."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem

MARGINS = (0.0, 0.5, 1.0)
"""Shares of a round trip's cost that an expected move must exceed: which one serves is chosen out of fold."""


def expected_move(
    output: np.ndarray, present: np.ndarray, usual_move: np.ndarray, problem: Problem
) -> np.ndarray:
    """The relative move that a model expects until the horizon, one a row.

    `output`: probabilities of the classes, or numbers; `present`: the price now; `usual_move`: the mean
    absolute move over the horizon, which turns a probability into a move: (2p - 1) of it.
    """
    if problem.is_classification:
        share = output[:, (problem.classes or ()).index("up")]
        return np.asarray((2 * share - 1) * usual_move)
    if problem.outlook is Outlook.CHANGE:
        return output
    return np.asarray(output / present - 1)


def expected_gain(output: np.ndarray, gain: np.ndarray, loss: np.ndarray, problem: Problem) -> np.ndarray:
    """What a trade that ends at barriers is expected to earn, one a row: by the probability of a gain, and what
    trades with a gain and others (`loss`, mostly below 0) earned before."""
    share = output[:, (problem.classes or ()).index("up")]
    return np.asarray(share * gain + (1 - share) * loss)


def stance(moves: np.ndarray, least: float) -> np.ndarray:
    """1 where a rise of more than `least` is expected, -1 where a fall is, else 0. (bars, coins) of moves."""
    return np.where(moves > least, 1.0, 0.0) - np.where(moves < -least, 1.0, 0.0)


def ladder(stances: np.ndarray, horizon: int) -> np.ndarray:
    """Each bar opens a tranche that is held for `horizon` bars: the position is the mean of the last stances.

    Overlapping portfolios as in Jegadeesh & Titman (1993). Before the first bar stances are 0.
    """
    if horizon <= 1:
        return stances
    sums = np.cumsum(np.concatenate([np.zeros((1, stances.shape[1])), stances]), axis=0)
    first = np.maximum(np.arange(1, len(sums)) - horizon, 0)
    return np.asarray((sums[1:] - sums[first]) / horizon)


def trades(opened: np.ndarray, lasts: np.ndarray, horizon: int) -> np.ndarray:
    """Each bar opens a tranche of one share in `horizon` that is held for as many bars as its trade `lasts`.

    (bars, coins) both; a trade whose end is not known lasts `horizon` bars.
    """
    bars = len(opened)
    ends = np.arange(bars)[:, None] + np.where(np.isfinite(lasts), lasts, horizon).astype(int)
    changes = np.zeros((bars + horizon + 1, opened.shape[1]))
    changes[:bars] += opened
    for coin in range(opened.shape[1]):
        np.add.at(changes[:, coin], ends[:, coin], -opened[:, coin])
    return np.asarray(np.cumsum(changes[:bars], axis=0) / horizon)


@dataclass(frozen=True)
class Endings:
    """How trades end that are opened at each bar, as (bars, coins): after how many bars (`lasts`), and what
    they earn that closes do not show (`beyond`: see `barriers.Barriers`)."""

    lasts: pd.DataFrame
    beyond: pd.DataFrame

    def at(self, times: pd.Index) -> "Endings":
        return Endings(self.lasts.reindex(times), self.beyond.reindex(times))

    def surplus(self, opened: np.ndarray, horizon: int) -> np.ndarray:
        """What the trades that are `opened` (bars, coins) earn beyond the closes, on the bar that leads to
        their end: each has one share in `horizon`."""
        bars, coins = opened.shape
        found = np.zeros((bars + horizon, coins))
        known = np.isfinite(self.lasts.to_numpy()) & np.isfinite(self.beyond.to_numpy())
        row, coin = np.nonzero(known & (opened != 0))
        ends = row + self.lasts.to_numpy()[row, coin].astype(int) - 1
        np.add.at(found, (ends, coin), (opened * self.beyond.to_numpy())[row, coin] / horizon)
        return found[:bars]


def wanted(
    moves: np.ndarray, margin: float, round_trip: float, horizon: int, endings: Endings | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The position that moves (bars, coins) ask for, and what it earns beyond the closes; a missing move asks
    for none.

    With `endings` trades are long, and each ends by itself.
    """
    held = stance(np.nan_to_num(moves), margin * round_trip)
    if endings is None:
        return ladder(held, horizon), np.zeros(held.shape)
    opened = np.maximum(held, 0.0)
    return trades(opened, endings.lasts.to_numpy(), horizon), endings.surplus(opened, horizon)


def by_time(values: Sequence[float] | np.ndarray, times: pd.Series, coins: pd.Series | None) -> pd.DataFrame:
    """Values of rows as a table of times (in order) and coins; one column `""` where there are no coins."""
    column = pd.Series("", index=times.index) if coins is None else coins
    rows = pd.DataFrame({"time": times.to_numpy(), "coin": column.astype("str").to_numpy(), "value": values})
    table: pd.DataFrame = rows.drop_duplicates(["time", "coin"], keep="last").pivot(
        index="time", columns="coin", values="value"
    )
    return table.sort_index()


def next_returns(prices: pd.DataFrame) -> pd.DataFrame:
    """From each close to the coin's next close; missing for the last row and where either is missing."""
    ahead: pd.DataFrame = prices.shift(-1) / prices - 1
    return ahead
