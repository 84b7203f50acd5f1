"""Custom code in the facts of a fit."""

from collections.abc import Iterator

from app.reporting.evidence import RecordedFact, items_at


def iter_custom_code(fit: RecordedFact) -> Iterator[RecordedFact]:
    """Yield the features and the estimator of a fit that are code, each with `name` and `source`."""
    yield from (step for step in items_at(fit, "recipe") if step.text("op") == "python")
    estimator = fit.at("hyperparameters")
    if fit.text("estimator") == "Written" and estimator is not None:
        yield estimator
