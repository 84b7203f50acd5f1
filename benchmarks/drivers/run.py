"""Cost and truth of drivers: `python -m benchmarks.drivers.run [--budget 60]`.

Made tables with known effects, an ensemble of real fits, and its explanation within the time that a session of
this budget gives to it: once as for any goal, once as for a goal that asks for drivers. Printed are ratios: the
time taken to the time given, the rows measured to the held-out rows; and what is right: the leading column, and
how many of the intervals of effects hold the truth.
"""

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import explain, train
from app.computations.preparation import split
from app.tools.finalization.explanation import BUDGET_SHARE, DRIVERS_BUDGET_SHARE, MIN_S

_SHAPES = ((400, 8), (3_000, 12), (3_000, 80), (30_000, 12), (100_000, 40))
"""Rows and columns of the tables."""
_SLOPES = {"area": 90.0, "quality": 15_000.0, "age": -600.0}
_CITIES = {"A": 0.0, "B": 20_000.0, "C": -10_000.0}
_NOISE = 25_000.0
"""Standard deviation of the price that no column explains."""
_ESTIMATORS = ("LightGBM", "Ridge", "Network")
_FOLDS = 2


@dataclass(frozen=True)
class Measurement:
    """Ratios of one explanation; `covered` of `effects` intervals contain the true effect."""

    seconds: float
    time_ratio: float
    row_ratio: float
    repeats: int
    leading: str
    covered: int
    effects: int


def make_table(rows: int, columns: int, seed: int = 0) -> pd.DataFrame:
    """Make a table whose price depends on four columns; the area matters most, `rooms` goes with it."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=rows)
    table = pd.DataFrame(
        {
            "area": 1500 + 500 * size,
            "rooms": np.round(5 + 1.2 * size + rng.normal(size=rows)),
            "quality": rng.integers(1, 10, rows) // 2 + 1,
            "age": rng.gamma(2.0, 15.0, rows),
            "city": rng.choice(list(_CITIES), rows, p=[0.5, 0.3, 0.2]),
        }
    )
    noise = pd.DataFrame(rng.normal(size=(rows, columns - 5)), columns=[f"n{i}" for i in range(columns - 5)])
    price = sum(slope * table[name] for name, slope in _SLOPES.items()) + table["city"].map(_CITIES)
    return pd.concat([table, noise], axis=1).assign(price=price + _NOISE * rng.normal(size=rows))


def fit_ensemble(table: pd.DataFrame, folder: Path) -> dict[str, Path]:
    """Fit and blend real candidates; return the inputs of an explanation."""
    source = folder / "table.parquet"
    table.to_parquet(source)
    locked: Any = split.split_table(CellWorkspace({"table": source}, folder), {"target": "price"}, seed=0)
    folded = {"problem": locked["problem"], "folds": locked["folds"]}
    fits: list[Any] = []
    inputs: dict[str, Path] = {}
    for place, estimator in enumerate(_ESTIMATORS):
        output = folder / estimator
        output.mkdir()
        workspace = CellWorkspace({"frame": folder / "train.parquet"}, output)
        fits.append(train.fit_candidate(workspace, estimator=estimator, run=list(range(_FOLDS)), **folded))
        inputs |= {f"model_{place}": output / "model.skops", f"oof_{place}": output / "oof.parquet"}
    blended = folder / "blend"
    blended.mkdir()
    train.blend(CellWorkspace(inputs, blended), fits=fits, seed=0, **folded)
    return {"holdout": folder / "holdout.parquet", "model": blended / "model.skops"}


def measure(inputs: Mapping[str, Path], folder: Path, limit_s: float) -> Measurement:
    facts: Any = explain.explain_model(CellWorkspace(inputs, folder), limit_s=limit_s)
    drivers = facts["drivers"]
    covered = [low <= truth <= high for low, truth, high in _effects(drivers)]
    leaders = [", ".join(driver["columns"]) for driver in drivers["drivers"][: drivers["leaders"]]]
    return Measurement(
        facts["explain_s"],
        facts["explain_s"] / limit_s,
        drivers["rows"] / drivers["holdout_rows"],
        drivers["repeats"],
        " | ".join(leaders) or "-",
        sum(covered),
        len(covered),
    )


def describe(row: Measurement) -> str:
    return (
        f"{row.seconds:>7.1f}  {row.time_ratio:>11.2f}  {row.row_ratio:>11.2f}  {row.repeats:>7}"
        f"  {row.covered:>4} of {row.effects:<2}  {row.leading}"
    )


def _effects(drivers: Any) -> Iterator[tuple[float, float, float]]:
    """Yield low bound, truth and high bound of each effect of one column."""
    for driver in drivers["drivers"]:
        for effect in driver["effects"]:
            name = effect["column"]
            if name == "city":
                truth = _CITIES[effect["after"]] - _CITIES[effect["before"]]
            else:
                truth = _SLOPES.get(name, 0.0) * (effect["step"] or 0.0)
            yield effect["low"], truth, effect["high"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=float, default=60.0, help="time budget of the session in seconds")
    parser.add_argument("--shapes", type=int, default=len(_SHAPES), help="how many tables, the smallest first")
    options = parser.parse_args()
    print("rows x columns   goal     seconds  of its time  of the rows  repeats  intervals  leading")
    for rows, columns in _SHAPES[: options.shapes]:
        with tempfile.TemporaryDirectory(prefix="drivers-") as name:
            folder = Path(name)
            inputs = fit_ensemble(make_table(rows, columns), folder)
            for goal, share in (("any", BUDGET_SHARE), ("drivers", DRIVERS_BUDGET_SHARE)):
                (folder / goal).mkdir()
                row = measure(inputs, folder / goal, max(share * options.budget, MIN_S))
                print(f"{rows:>7,} x {columns:<4}  {goal:<8} {describe(row)}", flush=True)


if __name__ == "__main__":
    main()
