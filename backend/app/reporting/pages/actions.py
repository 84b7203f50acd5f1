"""The block on what to do: how to use the answer, what would improve it, and its limits."""

from app.reporting.advice import advise
from app.reporting.document.blocks import ActionsBlock
from app.reporting.document.inline_elements import Name, Text
from app.reporting.draft import ReportDraft
from app.reporting.sections.closing import limit_items

_USE_RULES = frozenset({"not_better_than_a_guess", "no_edge", "no_model_needed", "try_on_new_rows"})
"""Rules of advice that say whether to use the model at all."""


def block(draft: ReportDraft) -> ActionsBlock | None:
    # The answer to a question is a fact about the data, and no model that could be used or improved.
    if draft.facts.is_question:
        return None
    advice = advise(draft)
    use = [entry.text for entry in advice if entry.rule in _USE_RULES]
    improve = [entry.text for entry in advice if entry.rule not in _USE_RULES]
    return ActionsBlock([*use, *_files(draft)], improve, limit_items(draft))


def _files(draft: ReportDraft) -> list[Text]:
    """Name the files beside the report that hold more."""
    forecast = draft.facts.forecast
    return (
        [("All forecasts stand in ", Name("forecasts.csv"), ".")] if forecast and forecast.content.rows else []
    )
