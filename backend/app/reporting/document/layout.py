"""Layout of blocks as sections: the only place that turns typed blocks into elements."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from app.reporting.document.blocks import (
    PAGE_TITLES,
    ActionsBlock,
    AnswerBlock,
    AppendixBlock,
    AssumptionsBlock,
    Block,
    DriversBlock,
    EvidenceBlock,
    LooksBlock,
    PageBlock,
    ReproductionBlock,
    SiblingsBlock,
    UnderstandingBlock,
    WordsBlock,
)
from app.reporting.document.elements import (
    Bullets,
    Element,
    Gallery,
    Lead,
    Paragraph,
    Picture,
    Quote,
    ReportTable,
    Section,
    Subheading,
)
from app.reporting.document.inline_elements import Text


def lay_out(block: Block) -> Section:
    """Return a block as a section; without elements if the block has no content."""
    if isinstance(block, AppendixBlock):
        return Section(block.kind, block.title, block.elements)
    if isinstance(block, ReproductionBlock):
        return Section(block.kind, "Reproducibility", block.elements)
    return Section(block.kind, PAGE_TITLES[block.kind], _elements(block))


def _elements(block: PageBlock) -> list[Element]:
    match block:
        case UnderstandingBlock():
            return _understanding(block)
        case AnswerBlock():
            return _answer(block)
        case WordsBlock():
            return [Paragraph(text) for text in block.paragraphs]
        case DriversBlock():
            return [*_bullets(block.details), *block.tables, *_gallery(block.pictures)]
        case LooksBlock():
            return _looks(block)
        case EvidenceBlock():
            return _bullets(block.items)
        case AssumptionsBlock():
            return _assumptions(block)
        case ActionsBlock():
            return _actions(block)
        case SiblingsBlock():
            return _siblings(block)
    assert_never(block)


def _understanding(block: UnderstandingBlock) -> list[Element]:
    quote: list[Element] = [Quote(block.goal)] if block.goal else []
    sentence: list[Element] = [Paragraph(block.text)] if block.text else []
    return [*quote, *sentence, *_bullets(block.details)]


def _answer(block: AnswerBlock) -> list[Element]:
    verdict: list[Element] = [block.verdict] if block.verdict else []
    details = [Paragraph(text) for text in block.details]
    return [Lead(block.text), *details, *verdict, *block.tables, *_gallery(block.pictures)]


def _looks(block: LooksBlock) -> list[Element]:
    elements: list[Element] = []
    for look in block.looks:
        text: Text = (*look.title, ". ", *look.text) if look.text else look.title
        elements += [Paragraph(text), *look.tables, *_gallery(look.pictures)]
    return elements


def _assumptions(block: AssumptionsBlock) -> list[Element]:
    rows = [(entry.text, entry.holds, entry.otherwise) for entry in block.assumptions]
    return [ReportTable(("Condition", "If it holds", "If not"), rows)] if rows else []


def _actions(block: ActionsBlock) -> list[Element]:
    parts = (("Use", block.use), ("Improve", block.improve), ("Limits", block.limits))
    return [element for title, items in parts if items for element in (Subheading(title), Bullets(items))]


def _siblings(block: SiblingsBlock) -> list[Element]:
    rows = [(sibling.name, sibling.difference, sibling.text) for sibling in block.siblings]
    return [ReportTable(("Study", "Different in", "Answer"), rows)] if rows else []


def _bullets(items: Sequence[Text]) -> list[Element]:
    return [Bullets(items)] if items else []


def _gallery(pictures: Sequence[Picture]) -> list[Element]:
    return [Gallery(pictures)] if pictures else []


def iter_pictures(section: Section) -> Iterator[Picture]:
    for element in section.elements:
        if isinstance(element, Gallery):
            yield from element.pictures
