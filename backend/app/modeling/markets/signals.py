"""Positions from a model's expected moves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem

MARGINS = (0.0, 0.5, 1.0)
"""Shares of a round trip's cost that an expected move must exceed; one is chosen on out-of-fold rows."""


def expected_move(
    output: np.ndarray, present: np.ndarray, usual_move: np.ndarray, problem: Problem
) -> np.ndarray:
    """Convert a model's output to the relative move expected until the horizon (rows,).

    `output`: probabilities of the classes, or numbers; `present`: the current price; `usual_move`: the mean
    absolute move over the horizon, by which a probability is converted: (2p - 1) of it.
    """
    if problem.is_classification:
        share = output[:, (problem.classes or ()).index("up")]
        return np.asarray((2 * share - 1) * usual_move)
    if problem.outlook is Outlook.CHANGE:
        return output
    return np.asarray(output / present - 1)


def expected_gain(output: np.ndarray, gain: np.ndarray, loss: np.ndarray, problem: Problem) -> np.ndarray:
    """Expected return of a trade that ends at barriers (rows,).

    `output`: probabilities; `gain`, `loss`: mean returns of earlier trades that ended with a gain and of the
    others.
    """
    share = output[:, (problem.classes or ()).index("up")]
    return np.asarray(share * gain + (1 - share) * loss)


def directions(moves: np.ndarray, threshold: float) -> np.ndarray:
    """Convert moves (bars, coins) to 1 for a rise above `threshold`, -1 for a fall below it, else 0."""
    return np.where(moves > threshold, 1.0, 0.0) - np.where(moves < -threshold, 1.0, 0.0)


def overlapping_positions(signals: np.ndarray, horizon: int) -> np.ndarray:
    """Average the signals of the last `horizon` bars: each bar opens a tranche that is held that long.

    Overlapping portfolios as in Jegadeesh & Titman (1993). Before the first bar signals are 0.
    """
    if horizon <= 1:
        return signals
    # Running sums: a moving mean over all bars at once. The leading zeros are the bars before the first.
    sums = np.cumsum(np.concatenate([np.zeros((1, signals.shape[1])), signals]), axis=0)
    first = np.maximum(np.arange(1, len(sums)) - horizon, 0)
    return np.asarray((sums[1:] - sums[first]) / horizon)


def trade_positions(entries: np.ndarray, durations: np.ndarray, horizon: int) -> np.ndarray:
    """Sum the open tranches of each bar (bars, coins): one share in `horizon` per trade, held for its duration.

    A trade whose end is not known lasts `horizon` bars.
    """
    bars = len(entries)
    ends = np.arange(bars)[:, None] + np.where(np.isfinite(durations), durations, horizon).astype(int)
    # Room for trades that end after the last bar.
    changes = np.zeros((bars + horizon + 1, entries.shape[1]))
    changes[:bars] += entries
    for coin in range(entries.shape[1]):
        # Several trades may end at one bar: plain indexing would count one of them.
        np.add.at(changes[:, coin], ends[:, coin], -entries[:, coin])
    return np.asarray(np.cumsum(changes[:bars], axis=0) / horizon)


@dataclass(frozen=True)
class TradeEnds:
    """Ends of trades opened at each bar, as (bars, coins): the duration in bars (`durations`), and the return
    that closes do not show (`excess`: see `barriers.BarrierOutcomes`)."""

    durations: pd.DataFrame
    excess: pd.DataFrame

    def at(self, times: pd.Index) -> "TradeEnds":
        return TradeEnds(self.durations.reindex(times), self.excess.reindex(times))

    def excess_returns(self, entries: np.ndarray, horizon: int) -> np.ndarray:
        """Returns beyond the closes of the trades in `entries` (bars, coins), on the bar that leads to their
        end; each trade has one share in `horizon`."""
        bars, coins = entries.shape
        excess = np.zeros((bars + horizon, coins))
        complete = np.isfinite(self.durations.to_numpy()) & np.isfinite(self.excess.to_numpy())
        row, coin = np.nonzero(complete & (entries != 0))
        # Row t of returns is the bar from close t to the next, so a trade of one bar ends in its own row.
        ends = row + self.durations.to_numpy()[row, coin].astype(int) - 1
        np.add.at(excess, (ends, coin), (entries * self.excess.to_numpy())[row, coin] / horizon)
        return excess[:bars]


def target_positions(
    moves: np.ndarray, margin: float, round_trip: float, horizon: int, endings: TradeEnds | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the positions for expected moves (bars, coins), and their returns beyond the closes.

    A missing move opens nothing. With `endings` trades are long, and each ends by itself.
    """
    signals = directions(np.nan_to_num(moves), margin * round_trip)
    if endings is None:
        return overlapping_positions(signals, horizon), np.zeros(signals.shape)
    # Barriers are labelled for a rise; the end of a short trade would need its own simulation.
    entries = np.maximum(signals, 0.0)
    return trade_positions(entries, endings.durations.to_numpy(), horizon), endings.excess_returns(
        entries, horizon
    )


def pivot_by_time(
    values: Sequence[float] | np.ndarray, times: pd.Series, coins: pd.Series | None
) -> pd.DataFrame:
    """Pivot row values to a table of times (in order) and coins; a single column `""` without coins."""
    column = pd.Series("", index=times.index) if coins is None else coins
    rows = pd.DataFrame({"time": times.to_numpy(), "coin": column.astype("str").to_numpy(), "value": values})
    # `pivot` raises at a repeated key.
    table: pd.DataFrame = rows.drop_duplicates(["time", "coin"], keep="last").pivot(
        index="time", columns="coin", values="value"
    )
    return table.sort_index()


def next_returns(prices: pd.DataFrame) -> pd.DataFrame:
    """Compute the return from each close to the coin's next close; missing if either is missing."""
    ahead: pd.DataFrame = prices.shift(-1) / prices - 1
    return ahead
