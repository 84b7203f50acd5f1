"""The block on what matters: what the target goes with and by how much, and where the model errs most."""

from app.reporting.document.blocks import DriversBlock
from app.reporting.document.pieces import Piece, Text
from app.reporting.draft import ReportDraft
from app.reporting.driver_texts import driver_table, effect_sentences, leading_sentence

_NOT_CAUSES = (
    "An effect is the difference of the target that goes with a change of one column while the others stay as"
    " they are; its interval is from rows that were not used in training. It is no proof of a cause."
)


def block(draft: ReportDraft) -> DriversBlock | None:
    """Make the block. Where the goal asked for the drivers, the answer block has their sentences."""
    leading, effects = leading_sentence(draft), effect_sentences(draft)
    sentences = [] if draft.facts.wants_drivers or not leading else [leading, *effects]
    details = [*sentences, *([(_NOT_CAUSES,)] if effects else []), *_worst_segment(draft)]
    table = driver_table(draft)
    if not details:
        return None
    return DriversBlock(details, [table] if table else [], draft.pictures("importances"))


def _worst_segment(draft: ReportDraft) -> list[Text]:
    worst = draft.facts.worst_segments
    if not worst:
        return []
    text: list[Piece] = ["The error is largest where ", *draft.render(worst[0].at("column")), " "]
    return [(*text, *draft.render(worst[0].at("text")), ".")]
