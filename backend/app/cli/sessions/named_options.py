"""Options that are checked as they are typed, before any file is sent: names of a list, and the budget."""

from collections.abc import Iterable

from app.cli.quick_imports import quick_imports
from app.errors import InvalidInput, ToolRefused


def check_metric(name: str | None) -> str | None:
    """Return a metric as the service spells it. Raises InvalidInput with the nearest names."""
    if name is None:
        return None
    with quick_imports():
        from app.modeling.problem.metrics import METRICS  # noqa: PLC0415 - time that `--help` need not wait
    return _check_name(name, METRICS, "metric")


MIN_BUDGET_S = 1
"""Seconds of the smallest budget that the service takes (`Preferences` of `sessions/schemas.py`)."""


def check_budget(seconds: float) -> float:
    """Return a time budget that the service takes. Raises InvalidInput."""
    if not seconds >= MIN_BUDGET_S:
        raise InvalidInput("budget_too_small", f"The budget is in seconds, at least {MIN_BUDGET_S} second.")
    return seconds


def check_families(names: list[str] | None) -> list[str] | None:
    """Return families of models as the service spells them. Raises InvalidInput with the nearest names."""
    if not names:
        return names
    with quick_imports():
        from app.modeling.problem.family_catalog import FAMILIES_BY_NAME  # noqa: PLC0415 - as above
    return [_check_name(name, FAMILIES_BY_NAME, "family") for name in names]


def _check_name(name: str, names: Iterable[str], noun: str) -> str:
    from app.modeling.problem.name_resolution import resolve_name  # noqa: PLC0415 - as above

    try:
        return resolve_name(name, names, noun)
    except ToolRefused as refused:
        raise InvalidInput(f"unknown_{noun}", str(refused)) from refused
