"""The block for the words of a chat model; its numbers are claims, so remarks hold none."""

from app.reporting.document.blocks import WordsBlock
from app.reporting.draft import ReportDraft


def block(draft: ReportDraft) -> WordsBlock | None:
    return WordsBlock([(remark,) for remark in draft.remarks]) if draft.remarks else None
