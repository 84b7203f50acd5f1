"""Composition of the report from recorded calls: the order of its sections."""

from collections.abc import Callable, Sequence

from app.recorded_call import RecordedCall
from app.reporting.document import Name, ProvenanceRow, Report, Section, Text
from app.reporting.draft import ReportDraft
from app.reporting.evidence import RecordedFact
from app.reporting.facts import gather_facts
from app.reporting.gallery import FigureRef
from app.reporting.sections import (
    answer,
    closing,
    code,
    data,
    explanation,
    forecast,
    goal,
    results,
    split,
    summary,
    trading,
    trials,
)

MakeSection = Callable[[ReportDraft], Section | None]

SECTIONS: tuple[MakeSection, ...] = (
    summary.section,
    goal.section,
    data.section,
    split.section,
    trials.leaderboard,
    trials.tuning,
    code.section,
    results.hold_out,
    forecast.section,
    trading.section,
    explanation.reliance,
    explanation.errors,
    closing.limits,
    closing.recommendations,
    closing.questions,
    trials.every_candidate,
    closing.reproducibility,
)

ANSWER_SECTIONS: tuple[MakeSection, ...] = (
    answer.section,
    goal.section,
    answer.derivation,
    data.section,
    closing.questions,
    closing.reproducibility,
)
"""Sections of a session that answered a question about the data."""


def build_draft(
    calls: Sequence[RecordedCall],
    session: RecordedFact,
    figures: Sequence[FigureRef] = (),
    remarks: Sequence[str] = (),
) -> ReportDraft:
    """Gather the facts of the calls. `session` points at the session's facts inside a recorded result."""
    return ReportDraft(calls, gather_facts(calls, session), figures, remarks)


def compose(draft: ReportDraft, sections: Sequence[MakeSection] | None = None, title: str = "") -> Report:
    """Compose the report, or the given sections of it; sections without facts are omitted."""
    makers = sections or (ANSWER_SECTIONS if draft.facts.is_question else SECTIONS)
    composed = [section for make in makers if (section := make(draft)) is not None]
    subtitle = ("Every number is linked to the recorded call that produced it.",)
    return Report(
        (title,) if title else _title(draft), subtitle, composed, draft.claims.all(), list_cited_calls(draft)
    )


def _title(draft: ReportDraft) -> Text:
    if draft.facts.is_question:
        return ("A question about the data",)
    target = draft.facts.problem.at("target") if draft.facts.problem else None
    return ("Predicting ", Name(str(target.value))) if target else ("Results of this session",)


def list_cited_calls(draft: ReportDraft) -> list[ProvenanceRow]:
    """Return the calls that claims or figures cite, in recorded order."""
    places = {(source.step, source.call) for claim in draft.claims.all() for source in claim.sources}
    places |= {(figure.step, figure.call) for figure in draft.figures}
    return [
        ProvenanceRow(call.seq, call.node, call.key, call.tool, call.agent)
        for call in draft.calls
        if (call.seq, call.key) in places
    ]
