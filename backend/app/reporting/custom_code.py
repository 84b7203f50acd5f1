"""Code that agents wrote, where the facts of a fit hold it."""

from collections.abc import Iterator

from app.reporting.evidence import RecordedFact, items_at


def iter_custom_code(fit: RecordedFact) -> Iterator[RecordedFact]:
    """Each of the fit's features and estimators that are code: `name` and `source`."""
    yield from (step for step in items_at(fit, "recipe") if step.text("op") == "python")
    estimator = fit.at("hyperparameters")
    if fit.text("estimator") == "Written" and estimator is not None:
        yield estimator
