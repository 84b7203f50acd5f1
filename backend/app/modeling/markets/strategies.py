"""Model-free strategies, as baselines for a forecast."""

import numpy as np
import pandas as pd

from app.modeling.markets.signals import overlapping_positions

BASELINES: dict[str, str] = {
    "buy and hold": "long from the first bar to the last",
    "persistence": "long where the price rose over the last horizon, else short",
    "drift": "long where the training rows rose on average, else short",
}


def baseline_positions(name: str, prices: pd.DataFrame, before: pd.DataFrame, horizon: int) -> np.ndarray:
    """Compute the positions of a baseline (bars, coins) over `prices`; `before`: the training rows' prices."""
    if name == "buy and hold":
        return np.ones(prices.shape)
    if name == "drift":
        growth = before.ffill().iloc[-1] / before.bfill().iloc[0] - 1 if len(before) else prices.iloc[0] * 0
        return np.tile(np.sign(np.nan_to_num(growth.to_numpy(dtype=float))), (len(prices), 1))
    combined = pd.concat([before.tail(horizon), prices])
    past = (combined / combined.shift(horizon) - 1).tail(len(prices))
    return overlapping_positions(np.sign(np.nan_to_num(past.to_numpy())), horizon)
