"""Facts of an explanation, as strict JSON."""

from typing import Any, TypedDict

from app.json_types import JsonScalar
from app.modeling.facts.computation_facts import Importance


class Dependence(TypedDict):
    """Predictions along one column. `kind`: `number`, `category` or `datetime`; `at`: the values it was set to.

    A line: `{"class": str | None, "mean", "low", "high"}`, one entry per value; `low` and `high` bound the
    middle four fifths of the rows. `density`: `{"counts"}` per value, or `{"edges", "counts"}` of a number.
    """

    column: str
    kind: str
    at: list[Any]
    rows: int
    lines: list[dict[str, Any]]
    density: dict[str, Any]


class ContributionFacts(TypedDict):
    """SHAP values of one tree model (`member`): mean absolute value by feature, largest first.

    A feature: `{"feature", "mean", "direction"}`; `direction` is the rank correlation of the feature with its
    contribution, None if it has no order. `left_out`: the number of further features with contributions.
    `unit`: `log_odds` of `of_class`, `target`, or `log_target` of a member trained on logarithms.
    """

    member: str
    of_class: str | None
    unit: str
    rows: int
    features: list[dict[str, Any]]
    left_out: int


class Segment(TypedDict):
    """Rows whose `column` `text` (such as `is yes`), with their error, its 95% interval, and the error
    elsewhere."""

    column: str
    text: str
    rows: int
    error: float | None
    low: float | None
    high: float | None
    elsewhere: float | None


class SegmentFacts(TypedDict):
    """Errors by segment.

    `measure`: `wrong` (share of rows) or `absolute_error` (mean, in units of the target). `tested`: the number
    of segments tested; `worst`: those that are worse than the rest beyond chance.
    """

    measure: str
    overall: float | None
    rows: int
    tested: int
    worst: list[Segment]


Effect = TypedDict(
    "Effect",
    {
        "column": str,
        "with": list[str],
        "before": JsonScalar,
        "after": JsonScalar,
        "step": float | None,
        "of_class": JsonScalar,
        "value": float,
        "low": float,
        "high": float,
        "is_clear": bool,
        "size": float,
        "size_low": float,
        "size_high": float,
    },
)
"""Difference of the target that goes with a step of a column, given the other columns.

`before` and `after`: the values compared; of a number its quartiles, and the effect is per `step` between
them. `with`: columns that change along with it. `of_class`: the class whose probability changes. `low` and
`high`: 95% interval. `is_clear`: it does not hold zero. `size`, `size_low` and `size_high`: the same without
sign, ascending.
"""


class Driver(TypedDict):
    """A column, or a group of columns, that the target goes with.

    `importance`: loss of the metric when they are shuffled, with `low` and `high` of its 95% interval.
    `rank`: 1 for all that may be the first.
    """

    columns: list[str]
    grouped_by: str
    rank: int
    importance: float
    low: float | None
    high: float | None
    effects: list[Effect]


class DriverFacts(TypedDict):
    """Columns that the target goes with.

    `drivers`: those whose shuffling the metric misses, the most important first, then those that have an effect
    beyond chance though their importance is not. `leaders`: the number of those that may be the first;
    `is_first_clear`: one is above all others beyond chance. `tested`: groups of columns that were shuffled;
    `rows` of `holdout_rows`: the rows that this was measured on.
    """

    drivers: list[Driver]
    leaders: int
    is_first_clear: bool
    tested: int
    rows: int
    holdout_rows: int
    has_enough_rows: bool
    """Whether the rows are enough to tell a helpful column from a useless one."""
    repeats: int


class ExplanationFacts(TypedDict):
    """Facts of `explain.explain_model`, on hold-out rows after they were opened."""

    model: str | None
    on: str
    """`hold-out`."""
    metric: str
    base_score: float | None
    rows: int
    """Rows that columns were shuffled on."""
    repeats: int
    importances: list[Importance]
    left_out: int
    """Columns that were not shuffled: there were too many."""
    dependence: list[Dependence]
    drivers: DriverFacts
    contributions: ContributionFacts | None
    segments: SegmentFacts | None
    explain_s: float
    notes: list[str]
    figures: list[dict[str, str]]
