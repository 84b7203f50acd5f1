"""Which families there are and what each needs, for those who choose among them. Imports nothing heavy."""

from dataclasses import dataclass
from importlib.util import find_spec

CLASSIFICATION, REGRESSION = "classification", "regression"


@dataclass(frozen=True)
class Family:
    """`kinds` of problems; `fewest` and `most` rows it is worth trying on; `cost`: time relative to LightGBM's.

    `needs`: a package that is not always installed. `most_columns`: beyond these it is no use.
    """

    name: str
    kinds: tuple[str, ...]
    cost: float
    fewest: int = 0
    most: int = 10_000_000
    most_columns: int = 100_000
    needs: str | None = None

    @property
    def is_installed(self) -> bool:
        return self.needs is None or find_spec(self.needs) is not None


BOTH = (CLASSIFICATION, REGRESSION)

FAMILIES: tuple[Family, ...] = (
    Family("LightGBM", BOTH, 1.0),
    Family("LogisticRegression", (CLASSIFICATION,), 0.5, most=500_000),
    Family("Ridge", (REGRESSION,), 0.2),
    Family("XGBoost", BOTH, 1.5),
    Family("LightGBMExtra", BOTH, 1.0),
)
"""In the order in which they are worth trying."""


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
