"""Write a report from recorded calls: compose, render, check, leave."""

import json
from collections.abc import Sequence
from typing import Any

from app.computations.bench import Bench
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.reporting import html, markdown, model_card
from app.reporting.check import verify_report
from app.reporting.compose import build_draft, compose
from app.reporting.document import Report, plain_text
from app.reporting.draft import ReportDraft
from app.reporting.evidence import RecordedCall, RecordedFact
from app.reporting.gallery import FigureRef
from app.reporting.notebook import make_notebook
from app.reporting.sections import trials
from app.reporting.sections.summary import headline


class ReportUnproven(Exception):
    """The report fails its own check. Nobody's to talk round: it ends the session, and no report is left."""


COMPARISON = (trials.leaderboard, trials.tuning)


def write_report(
    bench: Bench,
    own: dict[str, Any],
    figures: Sequence[dict[str, Any]] = (),
    remarks: Sequence[str] = (),
) -> JsonValue:
    """Input `calls` (JSON list of `RecordedCall`) and each of `figures` by name (SVG).

    `own`: the call that writes the report, as it will be recorded; its result holds `session`. `figures`:
    `[{"name", "digest", "step", "call"}]` of `gallery.FigureRef`. Leaves report.html, report.md, report.json,
    model_card.md and notebook.ipynb. Answers `{"headline", "claims", "checked", "sections", "figures"}`.
    Raises ReportUnproven.
    """
    draft = _draft(bench, own, figures, remarks)
    facts = _leave(bench, "report", compose(draft), draft)
    card = model_card.compose(draft)
    if card is not None:
        text = markdown.render(card)
        _prove(card, draft, text=text)
        (bench.output / "model_card.md").write_text(text, encoding="utf-8")
    again = make_notebook(draft)
    if again is not None:
        (bench.output / "notebook.ipynb").write_text(json.dumps(again, indent=1), encoding="utf-8")
    return {**facts, "headline": plain_text(headline(draft))}


def write_comparison(bench: Bench, own: dict[str, Any], figures: Sequence[dict[str, Any]] = ()) -> JsonValue:
    """As `write_report`, of the candidates alone: comparison.html, comparison.md, comparison.json.

    Raises InvalidInput `nothing_to_compare` before any candidate was compared.
    """
    draft = _draft(bench, own, figures, ())
    if not draft.facts.comparison:
        raise InvalidInput("nothing_to_compare", "Compare candidates first: there is nothing to compare yet.")
    facts = _leave(bench, "comparison", compose(draft, COMPARISON, "Candidates compared"), draft)
    return {**facts, "headline": draft.facts.comparison.text("reason")}


def _draft(
    bench: Bench, own: dict[str, Any], figures: Sequence[dict[str, Any]], remarks: Sequence[str]
) -> ReportDraft:
    calls = [RecordedCall(**call) for call in json.loads(bench.inputs["calls"].read_bytes())]
    last = RecordedCall(**own)
    session = RecordedFact(last, "/session", last.result["session"])
    return build_draft([*calls, last], session, [FigureRef(**figure) for figure in figures], remarks)


def _leave(bench: Bench, name: str, report: Report, draft: ReportDraft) -> dict[str, JsonValue]:
    images = {figure.name: bench.inputs[figure.name].read_bytes() for figure in draft.figures}
    page, text = html.render(report, images), markdown.render(report)
    checked = _prove(report, draft, page, text)
    document = json.dumps(report.to_json(), ensure_ascii=False, allow_nan=False)
    for suffix, content in (("html", page), ("md", text), ("json", document)):
        (bench.output / f"{name}.{suffix}").write_text(content, encoding="utf-8")
    return {
        "claims": len(report.claims),
        "checked": checked,
        "sections": [section.id for section in report.sections],
        "figures": [figure.name for figure in draft.figures],
    }


def _prove(report: Report, draft: ReportDraft, page: str | None = None, text: str | None = None) -> int:
    """How many claims were read again from the calls; raises ReportUnproven when one does not hold."""
    verdict = verify_report(report.to_json(), draft.calls, page, text)
    if not verdict.passes:
        first = verdict.mismatches[0]
        raise ReportUnproven(f"The report fails its own check: {first.where}: {first.problem}")
    return verdict.checked
