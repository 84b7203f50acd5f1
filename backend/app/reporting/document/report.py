"""The report as data: `report.json`, and the document that renderers take."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.reporting.claims import Claim
from app.reporting.document.blocks import BLOCK_ORDER, PAGE_TITLES, Block
from app.reporting.document.inline_elements import Text
from app.reporting.document.layout import lay_out
from app.reporting.document.sectioned import Document, ProvenanceRow, to_plain

VERSION = 2
"""Version of `report.json`. Version 1 had sections of elements instead of typed blocks."""


@dataclass(frozen=True)
class Report:
    """Blocks in the order of `BLOCK_ORDER`, each kind once and none without content."""

    title: Text
    blocks: Sequence[Block]
    claims: Sequence[Claim]
    calls: Sequence[ProvenanceRow] = ()

    def to_json(self) -> dict[str, Any]:
        """`report.json`: the blocks, their claims, and the calls that they cite."""
        return {
            "version": VERSION,
            "title": to_plain(self.title),
            "blocks": [to_plain(block) for block in self.blocks],
            "claims": [claim.to_json() for claim in self.claims],
            "calls": [to_plain(row) for row in self.calls],
        }

    def lay_out(self) -> Document:
        """Return the report as pages for a reader and an appendix."""
        sections = [lay_out(block) for block in self.blocks]
        pages = [section for section in sections if section.id in PAGE_TITLES]
        appendix = [section for section in sections if section.id not in PAGE_TITLES]
        return Document(self.title, (), pages, self.claims, self.calls, appendix)


def arrange(blocks: Sequence[Block | None]) -> list[Block]:
    """Return the blocks with content in the fixed order. Raises ValueError if a kind occurs twice."""
    # By their layout: whether a block has content only its elements tell.
    filled = [block for block in blocks if block is not None and lay_out(block).elements]
    kinds = [block.kind for block in filled]
    if len(set(kinds)) < len(kinds):
        raise ValueError(f"A kind of block occurs twice: {', '.join(kinds)}.")
    return sorted(filled, key=lambda block: BLOCK_ORDER.index(block.kind))
