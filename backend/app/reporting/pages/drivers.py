"""The block on what matters: the columns that the model relies on, and where it errs most."""

from app.reporting.document.blocks import DriversBlock
from app.reporting.document.pieces import Piece, Text
from app.reporting.draft import ReportDraft, join_texts

_MAX_NAMED = 4
"""Columns named in a sentence, so that it stays readable."""


def block(draft: ReportDraft) -> DriversBlock | None:
    details = [*_columns(draft), *_worst_segment(draft)]
    return DriversBlock(details, pictures=draft.pictures("importances")) if details else None


def _columns(draft: ReportDraft) -> list[Text]:
    helping = draft.facts.helping_columns
    if not helping:
        return []
    names = join_texts([draft.render(entry.at("column")) for entry in helping[:_MAX_NAMED]])
    return [("Most important columns: ", *names, ".")]


def _worst_segment(draft: ReportDraft) -> list[Text]:
    worst = draft.facts.worst_segments
    if not worst:
        return []
    text: list[Piece] = ["The error is largest where ", *draft.render(worst[0].at("column")), " "]
    return [(*text, *draft.render(worst[0].at("text")), ".")]
