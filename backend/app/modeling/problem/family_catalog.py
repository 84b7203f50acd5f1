"""Model families with the kinds of problems, table sizes and packages that each is made for."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from app.modeling.problem.kinds import PLAIN

CLASSIFICATION, REGRESSION = "classification", "regression"


@dataclass(frozen=True)
class Family:
    """One family. `kinds`: problems it can fit; `min_rows`, `max_rows`, `max_columns`: tables worth trying it
    on.

    `seconds_per_cell`: seconds of a useful fit for each row and column, on one core. `required_package`: a
    package that is not always installed.
    """

    name: str
    kinds: tuple[str, ...]
    seconds_per_cell: float
    min_rows: int = 0
    max_rows: int = 10_000_000
    max_columns: int = 100_000
    required_package: str | None = None
    is_on_request: bool = False
    """True for a family that is fitted only where it is asked for: others do better in the same time."""

    @property
    def relative_cost(self) -> float:
        """`seconds_per_cell` relative to the first family."""
        return self.seconds_per_cell / FAMILIES[0].seconds_per_cell

    @property
    def is_installed(self) -> bool:
        return self.required_package is None or find_spec(self.required_package) is not None


BOTH_KINDS = (CLASSIFICATION, REGRESSION)

FAMILIES: tuple[Family, ...] = (
    Family("LightGBM", BOTH_KINDS, 8e-7),
    Family("LogisticRegression", (CLASSIFICATION,), 3e-6),
    Family("Ridge", (REGRESSION,), 5e-7),
    Family("CatBoost", BOTH_KINDS, 2.5e-6, max_rows=500_000, max_columns=1000, required_package="catboost"),
    Family("XGBoost", BOTH_KINDS, 1.2e-6),
    Family("LightGBMExtra", BOTH_KINDS, 8e-7),
    Family("Network", BOTH_KINDS, 3e-6, min_rows=200, max_columns=600),
    Family("RandomForest", BOTH_KINDS, 3e-6, is_on_request=True),
    Family("GradientBoosting", BOTH_KINDS, 1.2e-6, is_on_request=True),
)
"""In the order in which families are worth trying."""

FAMILIES_BY_NAME = {family.name: family for family in FAMILIES}

if TYPE_CHECKING:
    FamilyName = str
else:
    FamilyName = Literal[tuple(FAMILIES_BY_NAME)]  # computed, as `metrics.MetricName` is

LINEAR_FAMILY = {CLASSIFICATION: "LogisticRegression", REGRESSION: "Ridge"}
"""Kind of problem -> the family whose coefficients can be read."""

PLAIN_FAMILY = Family(PLAIN, BOTH_KINDS, 3e-7)
"""Every study has it, so users do not choose it among `FAMILIES`. Its cost: 100 rounds of LightGBM."""


def select_families(kind: str, rows: int, columns: int) -> list[Family]:
    """Families worth trying on a table of this size, the most useful first."""
    return [
        family
        for family in FAMILIES
        if kind in family.kinds
        and family.min_rows <= rows <= family.max_rows
        and columns <= family.max_columns
        and family.is_installed
        and not family.is_on_request
    ]


def has_long_tail(target_summary: Mapping[str, Any]) -> bool:
    """Test for a nonnegative numeric target with a long tail, where variants `{"on_log": true}` are worth
    fitting.

    `target_summary`: `mean`, `median`, `min`, `max` and `std` of the training rows, as in `SplitFacts`.
    """
    low, middle, mean = (target_summary.get(key) for key in ("min", "median", "mean"))
    if low is None or middle is None or mean is None or low < 0:
        return False
    return bool(mean > 1.1 * middle and target_summary["max"] > 3 * mean)
