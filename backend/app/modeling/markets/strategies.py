"""What needs no model: strategies that a forecast has to beat."""

import numpy as np
import pandas as pd

from app.modeling.markets.signals import ladder

BASELINES: dict[str, str] = {
    "buy and hold": "long from the first bar to the last",
    "persistence": "what rose over the last horizon rises over the next one",
    "drift": "long where the training rows rose on average, else short",
}


def positions_of(name: str, prices: pd.DataFrame, before: pd.DataFrame, horizon: int) -> np.ndarray:
    """What a baseline holds (bars, coins) over `prices`; `before`: the training rows' prices, same columns."""
    if name == "buy and hold":
        return np.ones(prices.shape)
    if name == "drift":
        rose = before.ffill().iloc[-1] / before.bfill().iloc[0] - 1 if len(before) else prices.iloc[0] * 0
        return np.tile(np.sign(np.nan_to_num(rose.to_numpy(dtype=float))), (len(prices), 1))
    known = pd.concat([before.tail(horizon), prices])
    past = (known / known.shift(horizon) - 1).tail(len(prices))
    return ladder(np.sign(np.nan_to_num(past.to_numpy())), horizon)
