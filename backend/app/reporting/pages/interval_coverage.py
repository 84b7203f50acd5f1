"""The share of the hold-out that intervals of predictions held, beside the share that they are made to hold."""

from app.reporting.document.inline_elements import Text
from app.reporting.draft import ReportDraft


def missed_coverage(draft: ReportDraft) -> Text:
    """Say that the intervals of the forecast held fewer rows than they are made to, beyond chance."""
    delivered = draft.facts.delivered
    # Former releases measured the intervals of the model only.
    if delivered is None or (draft.facts.is_forecast_by_methods and draft.facts.methods_name is None):
        return ()
    level = delivered.at("intervals", "level")
    share, high = (delivered.at("intervals", "coverage", name) for name in ("value", "high"))
    if level is None or share is None or high is None or high.value is None or high.value >= level.value:
        return ()
    return (
        " The intervals are made to hold ",
        draft.read(level, "whole_percent"),
        " of the rows, and held ",
        draft.read(share, "whole_percent"),
        " of the hold-out",
        *_widening(draft),
        ".",
    )


def _widening(draft: ReportDraft) -> Text:
    """Say by how much the intervals here are wider, or that those of the methods are measured again."""
    if draft.facts.is_forecast_by_methods:
        return (": they are measured again here, with these rows",)
    widening = draft.facts.refit.at("widening") if draft.facts.refit else None
    if widening is None or widening.value is None:
        return ()
    return (": they are wider here than those, by a factor of ", draft.read(widening, "score"))
