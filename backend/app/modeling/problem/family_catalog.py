"""Which families there are and what each needs, for those who choose among them. Imports nothing heavy."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

CLASSIFICATION, REGRESSION = "classification", "regression"


@dataclass(frozen=True)
class Family:
    """`kinds` of problems; `fewest` and `most` rows, and `most_columns`, that it is worth trying on.

    `cell_s`: seconds that a useful fit takes for each row and column, on one core; `cost`: the same relative to
    the first family. `needs`: a package that is not always installed.
    """

    name: str
    kinds: tuple[str, ...]
    cell_s: float
    fewest: int = 0
    most: int = 10_000_000
    most_columns: int = 100_000
    needs: str | None = None

    @property
    def cost(self) -> float:
        return self.cell_s / FAMILIES[0].cell_s

    @property
    def is_installed(self) -> bool:
        return self.needs is None or find_spec(self.needs) is not None


BOTH = (CLASSIFICATION, REGRESSION)

FAMILIES: tuple[Family, ...] = (
    Family("LightGBM", BOTH, 8e-7),
    Family("LogisticRegression", (CLASSIFICATION,), 3e-6),
    Family("Ridge", (REGRESSION,), 5e-7),
    Family("CatBoost", BOTH, 2.5e-6, most=500_000, most_columns=1000, needs="catboost"),
    Family("XGBoost", BOTH, 1.2e-6),
    Family("LightGBMExtra", BOTH, 8e-7),
    Family("Network", BOTH, 3e-6, fewest=200, most_columns=600),
)
"""In the order in which they are worth trying."""

BY_NAME = {family.name: family for family in FAMILIES}


def families_for(kind: str, rows: int, columns: int) -> list[Family]:
    """The families worth trying on a table of this size, the most telling first."""
    return [
        family
        for family in FAMILIES
        if kind in family.kinds
        and family.fewest <= rows <= family.most
        and columns <= family.most_columns
        and family.is_installed
    ]


def has_long_tail(target_summary: Mapping[str, Any]) -> bool:
    """Whether a target of numbers is positive with a long tail: then variants `{"on_log": true}` are worth it.

    `target_summary`: `mean`, `median`, `min`, `max` and `std` of the training rows, as `SplitFacts` has them.
    """
    low, middle, mean = (target_summary.get(key) for key in ("min", "median", "mean"))
    if low is None or middle is None or mean is None or low < 0:
        return False
    return bool(mean > 1.1 * middle and target_summary["max"] > 3 * mean)
