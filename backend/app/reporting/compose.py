"""Composition of the report from recorded calls: one maker for each kind of block."""

from collections.abc import Callable, Collection, Sequence

from app.recorded_call import RecordedCall
from app.reporting.document.blocks import AppendixBlock, AppendixKind, Block, ReproductionBlock
from app.reporting.document.elements import Element, Gallery, Section
from app.reporting.document.inline_elements import Name, Text
from app.reporting.document.layout import iter_pictures, lay_out
from app.reporting.document.report import Report, arrange
from app.reporting.document.sectioned import Document, ProvenanceRow
from app.reporting.draft import ReportDraft
from app.reporting.evidence import RecordedFact
from app.reporting.gallery import FigureRef
from app.reporting.pages import (
    actions,
    answer,
    assumptions,
    drivers,
    evidence,
    fork_family,
    model_remarks,
    understanding,
)
from app.reporting.reproduction import make_cells
from app.reporting.sections import (
    closing,
    custom_code,
    data,
    derivation,
    explanation,
    forecast,
    goal,
    results,
    split,
    trading,
    trials,
)
from app.reporting.session_facts import gather_facts

MakeBlock = Callable[[ReportDraft], Block | None]
MakeSection = Callable[[ReportDraft], Section | None]


PAGES: dict[str, MakeBlock] = {
    "understanding": understanding.block,
    "answer": answer.block,
    "words": model_remarks.block,
    "drivers": drivers.block,
    "evidence": evidence.block,
    "assumptions": assumptions.block,
    "actions": actions.block,
    "siblings": fork_family.block,
}
"""Makers of the pages. The block `looks` has a place, but no content."""

APPENDIX: dict[AppendixKind, MakeSection] = {
    "problem": goal.section,
    "data": data.section,
    "split": split.section,
    "results": results.hold_out,
    "forecast": forecast.section,
    "trading": trading.section,
    "importances": explanation.reliance,
    "errors": explanation.errors,
    "trials": trials.leaderboard,
    "tuning": trials.tuning,
    "code": custom_code.section,
    "way": derivation.section,
    "questions": closing.questions,
}


def build_draft(
    calls: Sequence[RecordedCall],
    session: RecordedFact,
    figures: Sequence[FigureRef] = (),
    remarks: Sequence[str] = (),
) -> ReportDraft:
    """Gather the facts of the calls. `session` points at the session's facts inside a recorded result."""
    return ReportDraft(calls, gather_facts(calls, session), figures, remarks)


def compose(draft: ReportDraft) -> Report:
    """Compose the report. Blocks without content are omitted."""
    # Before the appendix, so that ids of claims count in the order in which a reader meets them.
    pages = [make(draft) for make in PAGES.values()]
    on_pages = {picture.name for block in pages if block for picture in iter_pictures(lay_out(block))}
    appendix = [_appendix_block(kind, make(draft), on_pages) for kind, make in APPENDIX.items()]
    return Report(
        _title(draft),
        arrange([*pages, *appendix, _reproduction(draft)]),
        draft.claims.all(),
        list_cited_calls(draft),
    )


def compose_sections(draft: ReportDraft, makers: Sequence[MakeSection], title: str) -> Document:
    """Compose a document of some sections of the appendix."""
    sections = [section for make in makers if (section := make(draft)) is not None]
    return Document((title,), (), sections, draft.claims.all(), list_cited_calls(draft))


def _reproduction(draft: ReportDraft) -> ReproductionBlock:
    section = closing.reproducibility(draft)
    return ReproductionBlock(section.elements if section else (), make_cells(draft))


def _appendix_block(
    kind: AppendixKind, section: Section | None, on_pages: Collection[str]
) -> AppendixBlock | None:
    """Return a section as a block, without the pictures that the pages show."""
    if section is None:
        return None
    elements = [_without_pictures(element, on_pages) for element in section.elements]
    return AppendixBlock(kind, section.title, [element for element in elements if element])


def _without_pictures(element: Element, on_pages: Collection[str]) -> Element | None:
    if not isinstance(element, Gallery):
        return element
    pictures = [picture for picture in element.pictures if picture.name not in on_pages]
    return Gallery(pictures) if pictures else None


def _title(draft: ReportDraft) -> Text:
    if draft.facts.is_question:
        return ("A question about the data",)
    target = draft.facts.problem.at("target") if draft.facts.problem else None
    if target is None:
        return ("Results of this session",)
    name = Name(str(target.value))
    if draft.facts.forecast:
        return ("Forecasting ", name)
    explanation = draft.facts.explanation
    # Who asks what goes with a column asks for no prediction of it: the model is the means.
    is_explained = explanation is not None and explanation.content.wants_drivers
    return ("What ", name, " goes with") if is_explained else ("Predicting ", name)


def list_cited_calls(draft: ReportDraft) -> list[ProvenanceRow]:
    """Return the calls that claims or figures cite, in recorded order."""
    places = {(source.step, source.call) for claim in draft.claims.all() for source in claim.sources}
    # A figure has no claims of its own, and is evidence of its call all the same.
    places |= {(figure.step, figure.call) for figure in draft.figures}
    return [
        ProvenanceRow(call.seq, call.node, call.key, call.tool, call.agent)
        for call in draft.calls
        if (call.seq, call.key) in places
    ]
