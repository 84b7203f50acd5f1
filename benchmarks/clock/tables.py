"""Tables to spend a budget on: a small real one, and a large made one."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd


def titanic() -> Path:
    """1,313 passengers, as the package `bokeh_sampledata` ships them."""
    spec = find_spec("bokeh_sampledata")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("The package bokeh_sampledata is not installed.")
    return Path(spec.submodule_search_locations[0]) / "_data" / "titanic_all.csv"


def large(folder: Path, rows: int = 300_000, columns: int = 20) -> Path:
    """Numbers with gaps, categories of few and many values, a date, and a yes or no that some decide."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(rows, columns - 5))
    few, many = rng.integers(0, 6, rows), rng.integers(0, 300, rows)
    signal = numbers[:, 0] * numbers[:, 1] + numbers[:, 2] + 0.7 * (few == 3) + rng.normal(size=300)[many]
    noise = rng.logistic(size=rows)
    frame = pd.DataFrame(numbers, columns=[f"x{place}" for place in range(numbers.shape[1])]).round(4)
    frame = frame.assign(
        x3=frame["x3"].where(rng.random(rows) < 0.9),
        few=np.array(["red", "green", "blue", "grey", "pink", "teal"])[few],
        many=[f"town {number}" for number in many],
        joined=pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, rows), unit="D"),
        flag=rng.random(rows) < 0.3,
        bought=np.where(signal + noise > 0.5, "yes", "no"),
    )
    path = folder / f"large_{rows}.csv"
    frame.to_csv(path, index=False)
    return path
