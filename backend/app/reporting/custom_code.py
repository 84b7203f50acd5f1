"""Code that agents wrote, where the facts of a fit hold it."""

from collections.abc import Iterator

from app.reporting.evidence import Fact, parts


def code_in(fit: Fact) -> Iterator[Fact]:
    """Each of the fit's features and estimators that are code: `name` and `source`."""
    yield from (step for step in parts(fit, "recipe") if step.text("op") == "python")
    estimator = fit.at("hyperparameters")
    if fit.text("estimator") == "Written" and estimator is not None:
        yield estimator
