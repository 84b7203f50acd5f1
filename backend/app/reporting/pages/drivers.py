"""The block on what matters: what the target goes with and by how much, and where the model errs most."""

from app.reporting.document.blocks import DriversBlock
from app.reporting.document.inline_elements import Piece, Text
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.driver_texts import (
    driver_table,
    effect_sentences,
    is_by_times_alone,
    leading_sentence,
)

_MAX_NAMED = 4
"""Columns named in a sentence, so that it stays readable."""
_NOT_CAUSES = (
    "An effect is the difference of the target that goes with a change of one column while the others stay as"
    " they are; its interval is from rows that were not used in training. It is no proof of a cause."
)


def block(draft: ReportDraft) -> DriversBlock | None:
    """Make the block. Where the goal asked for the drivers, the answer block has their sentences."""
    leading, effects = leading_sentence(draft), effect_sentences(draft)
    sentences = [leading, *effects] if leading else _columns(draft)
    # The answer block has them already, as the answer.
    if draft.facts.wants_drivers or is_by_times_alone(draft):
        sentences = []
    details = [*sentences, *([(_NOT_CAUSES,)] if effects else []), *_worst_segment(draft)]
    table = driver_table(draft)
    if not details:
        return None
    return DriversBlock(details, [table] if table else [], draft.pictures("importances"))


def _columns(draft: ReportDraft) -> list[Text]:
    """Name the columns with a significant importance, in sessions that measured no drivers."""
    names = [draft.render(entry.at("column")) for entry in draft.facts.helping_columns[:_MAX_NAMED]]
    return [("Columns with a significant importance: ", *join_texts(names), ".")] if names else []


def _worst_segment(draft: ReportDraft) -> list[Text]:
    worst = draft.facts.worst_segments
    if not worst:
        return []
    text: list[Piece] = ["The error is largest where ", *draft.render(worst[0].at("column")), " "]
    return [(*text, *draft.render(worst[0].at("text")), ".")]
