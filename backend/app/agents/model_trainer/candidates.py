"""Which estimators to try first, by problem, size and time."""

from dataclasses import dataclass
from typing import Any

BASELINE = "baseline"
LINEAR = {"classification": "LogisticRegression", "regression": "Ridge"}
BIG_ROWS = 20_000
HUGE_ROWS = 100_000
SHORT_S = 12.0


@dataclass(frozen=True)
class Offer:
    """One estimator, and when it is worth its time."""

    estimator: str
    most_rows: int = 10**9
    least_s: float = 0.0


OFFERS = (
    Offer("GradientBoosting"),
    Offer("RandomForest", most_rows=HUGE_ROWS),
    Offer("XGBoost", least_s=SHORT_S),
    Offer("ExtraTrees", most_rows=BIG_ROWS, least_s=SHORT_S),
)


def choose(kind: str, rows: int, time_left_s: float) -> list[dict[str, Any]]:
    """The baseline and a linear model always; trees as rows and seconds allow."""
    fitting = [o.estimator for o in OFFERS if rows <= o.most_rows and time_left_s >= o.least_s]
    return [{"estimator": name} for name in (BASELINE, LINEAR[kind], *fitting)]
