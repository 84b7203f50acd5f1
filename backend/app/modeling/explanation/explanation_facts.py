"""Facts of an explanation, as strict JSON."""

from typing import Any, TypedDict

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
    contributions: ContributionFacts | None
    segments: SegmentFacts | None
    explain_s: float
    notes: list[str]
    figures: list[dict[str, str]]
