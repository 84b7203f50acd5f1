"""Phrases of metrics cover the table of metrics."""

from app.modeling.problem.metrics import METRIC_PHRASES, METRICS, QUANTILE_LEVELS


def test_every_metric_has_a_phrase_or_a_grammar_of_its_own() -> None:
    """Costs are parsed by `goals.costs`, quantiles by `patterns.QUANTILE`."""
    named = {name for _, name in METRIC_PHRASES}
    assert named | {"cost"} | set(QUANTILE_LEVELS) == set(METRICS)
