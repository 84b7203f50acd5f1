"""Metrics as reports name and explain them."""

from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.metrics import METRICS, Metric


def describe_metric(name: str) -> Metric:
    """The table's entry. A metric that is not in the table keeps its name and counts as greater is better."""
    return METRICS.get(name) or Metric(name, ProblemKind.REGRESSION, True, name.replace("_", " "), "a score")


VOCABULARY = frozenset(metric.label for metric in METRICS.values())
"""Names that may hold a numeral without being data."""
