"""From recorded calls to the document: the order of its parts on one screen."""

from collections.abc import Callable, Sequence

from app.reporting.document import Name, ProvenanceRow, Report, Section, Text
from app.reporting.evidence import Fact, RecordedCall
from app.reporting.found import gather
from app.reporting.sections import closing, data, goal, results, split, summary, trials
from app.reporting.sections.draft import Draft, FigureRef

SECTIONS: tuple[Callable[[Draft], Section | None], ...] = (
    summary.section,
    goal.section,
    data.section,
    split.section,
    trials.leaderboard,
    trials.tuning,
    results.hold_out,
    results.importances,
    closing.limits,
    closing.recommendations,
    closing.questions,
    closing.reproducibility,
)


def draft_of(
    calls: Sequence[RecordedCall], session: Fact, figures: Sequence[FigureRef] = (), remarks: Sequence[str] = ()
) -> Draft:
    """`session` points at what is known of the session, inside the result of a recorded call."""
    return Draft(calls, gather(calls, session), figures, remarks)


def compose(draft: Draft) -> Report:
    """The whole report; a part without facts is left out."""
    sections = [section for make in SECTIONS if (section := make(draft)) is not None]
    claims = draft.ledger.all()
    subtitle = ("Every number is linked to the recorded call that produced it.",)
    return Report(_title(draft), subtitle, sections, claims, _cited(draft))


def _title(draft: Draft) -> Text:
    target = draft.found.problem.at("target") if draft.found.problem else None
    return ("Predicting ", Name(str(target.value))) if target else ("What this session found",)


def _cited(draft: Draft) -> list[ProvenanceRow]:
    """The calls that claims or figures cite, in their order."""
    cited = {(source.step, source.call) for claim in draft.ledger.all() for source in claim.sources}
    cited |= {(figure.step, figure.call) for figure in draft.figures}
    return [
        ProvenanceRow(call.seq, call.node, call.key, call.tool, call.agent)
        for call in draft.calls
        if (call.seq, call.key) in cited
    ]
