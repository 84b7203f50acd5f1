"""Reports from recorded calls: composed, rendered, verified and written."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from app.computations.cell_files.workspace import CellWorkspace
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.recorded_call import RecordedCall
from app.reporting import html, markdown, model_card, notebook
from app.reporting.compose import build_draft, compose, compose_sections
from app.reporting.document.inline_elements import plain_text
from app.reporting.document.json_form import load_report
from app.reporting.document.sectioned import Document
from app.reporting.draft import ReportDraft
from app.reporting.evidence import RecordedFact
from app.reporting.gallery import FigureRef
from app.reporting.pages.answer import headline
from app.reporting.sections import trials
from app.reporting.verification import verify_report


class ReportUnproven(Exception):
    """The report fails its own verification. This ends the session, and no report is written."""


COMPARISON = (trials.leaderboard, trials.tuning)


def write_report(
    workspace: CellWorkspace,
    own: dict[str, Any],
    figures: Sequence[dict[str, Any]] = (),
    remarks: Sequence[str] = (),
) -> JsonValue:
    """Write a report and its companions.

    Input `calls` (JSON list of `RecordedCall`) and each of `figures` by name (SVG). `own`: the call that writes
    the report, as it will be recorded; its result holds `session`. `figures`: `[{"name", "digest", "step",
    "call"}]` of `gallery.FigureRef`. Leaves report.html, report.md, report.json, model_card.md and
    notebook.ipynb. Returns `{"headline", "claims", "checked", "sections", "figures"}`. Raises ReportUnproven.
    """
    draft = _make_draft(workspace, own, figures, remarks)
    recorded = compose(draft).to_json()
    # Laid out from what was recorded: a report that is loaded later renders the same.
    report = load_report(recorded)
    facts = _write_documents(workspace, "report", report.lay_out(), recorded, draft)
    card = model_card.compose(draft)
    if card is not None:
        text = markdown.render(card)
        _verify(card.to_json(), draft, text=text)
        (workspace.output / "model_card.md").write_text(text, encoding="utf-8")
    cells = notebook.render(report)
    if cells is not None:
        (workspace.output / "notebook.ipynb").write_text(json.dumps(cells, indent=1), encoding="utf-8")
    return {**facts, "headline": plain_text(headline(draft))}


def write_comparison(
    workspace: CellWorkspace, own: dict[str, Any], figures: Sequence[dict[str, Any]] = ()
) -> JsonValue:
    """Write a report on the candidates alone: comparison.html, comparison.md, comparison.json.

    Raises InvalidInput `nothing_to_compare` before any candidate was compared.
    """
    draft = _make_draft(workspace, own, figures, ())
    if not draft.facts.comparison:
        raise InvalidInput("nothing_to_compare", "No candidates were compared yet: call the comparison first.")
    document = compose_sections(draft, COMPARISON, "Candidates compared")
    facts = _write_documents(workspace, "comparison", document, document.to_json(), draft)
    return {**facts, "headline": draft.facts.comparison.text("reason")}


def _make_draft(
    workspace: CellWorkspace, own: dict[str, Any], figures: Sequence[dict[str, Any]], remarks: Sequence[str]
) -> ReportDraft:
    calls = [RecordedCall(**call) for call in json.loads(workspace.inputs["calls"].read_bytes())]
    # The call that writes the report is part of its evidence, though it has not ended.
    last = RecordedCall(**own)
    session = RecordedFact(last, "/session", last.result["session"])
    return build_draft([*calls, last], session, [FigureRef(**figure) for figure in figures], remarks)


def _write_documents(
    workspace: CellWorkspace, name: str, document: Document, recorded: Mapping[str, Any], draft: ReportDraft
) -> dict[str, JsonValue]:
    """Write a document as HTML, Markdown and JSON (`recorded`) once its claims hold."""
    images = {figure.name: workspace.inputs[figure.name].read_bytes() for figure in draft.figures}
    page, text = html.render(document, images), markdown.render(document)
    # Before its files are written, so that an unproven document leaves none.
    checked = _verify(recorded, draft, page, text)
    serialized = json.dumps(recorded, ensure_ascii=False, allow_nan=False)
    for suffix, content in (("html", page), ("md", text), ("json", serialized)):
        (workspace.output / f"{name}.{suffix}").write_text(content, encoding="utf-8")
    return {
        "claims": len(document.claims),
        "checked": checked,
        "sections": [section.id for section in (*document.sections, *document.appendix)],
        "figures": [figure.name for figure in draft.figures],
    }


def _verify(
    recorded: Mapping[str, Any], draft: ReportDraft, page: str | None = None, text: str | None = None
) -> int:
    """Verify the claims of a document against the calls and return their number. Raises ReportUnproven."""
    verdict = verify_report(recorded, draft.calls, page, text)
    if not verdict.passes:
        first = verdict.mismatches[0]
        raise ReportUnproven(f"The report fails its own verification: {first.where}: {first.problem}")
    return verdict.checked
