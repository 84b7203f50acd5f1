"""Write a report from recorded calls: draw, compose, render, check, leave."""

import json
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from app.computations.bench import Bench, JsonValue
from app.errors import InvalidInput, LabError
from app.reporting import html, markdown, model_card
from app.reporting.check import verify
from app.reporting.compose import compose, draft_of
from app.reporting.document import Report, spoken
from app.reporting.drawable import drawables
from app.reporting.evidence import Fact, RecordedCall
from app.reporting.figures.drawing import draw, leave
from app.reporting.sections import results, trials
from app.reporting.sections.draft import Draft, FigureRef, title_of
from app.reporting.sections.summary import headline

COMPARISON = (trials.leaderboard, trials.tuning, results.importances)
_COMPARED = ("leaderboard", "importances")


def write_report(
    bench: Bench,
    own: dict[str, Any],
    figures: Sequence[dict[str, Any]] = (),
    remarks: Sequence[str] = (),
) -> JsonValue:
    """Input `calls` (JSON list of `RecordedCall`) and each of `figures` by name (SVG).

    `own`: the call that writes the report, as it will be recorded; its result holds `session`. `figures`:
    `[{"name", "title", "digest", "step", "call", "node"}]` drawn before. Leaves report.html, report.md,
    report.json, model_card.md and the figures drawn here. Answers `{"headline", "claims", "checked",
    "sections", "figures", "titles"}`. Raises LabError `report_unproven` if the report fails its own check.
    """
    draft, images = _drawn(bench, _draft(bench, own, figures, remarks), figures)
    report = compose(draft)
    facts = _leave(bench, "report", report, draft, images)
    card = model_card.compose(draft)
    if card is not None:
        _prove(card, draft)
        (bench.output / "model_card.md").write_text(markdown.render(card), encoding="utf-8")
    return {**facts, "headline": spoken(headline(draft))}


def write_comparison(bench: Bench, own: dict[str, Any], figures: Sequence[dict[str, Any]] = ()) -> JsonValue:
    """As `write_report`, of the candidates alone: comparison.html, comparison.md, comparison.json.

    Raises InvalidInput `nothing_to_compare` before any candidate was fitted.
    """
    draft, images = _drawn(bench, _draft(bench, own, (), ()), (), _COMPARED)
    if not draft.found.fits and not draft.found.comparison:
        raise InvalidInput("nothing_to_compare", "No candidate was fitted yet, so there is nothing to compare.")
    facts = _leave(bench, "comparison", compose(draft, COMPARISON, "Candidates compared"), draft, images)
    chosen = (
        draft.found.comparison.text("reason") if draft.found.comparison else "Candidates are not compared yet."
    )
    return {**facts, "headline": chosen}


def _draft(
    bench: Bench, own: dict[str, Any], figures: Sequence[dict[str, Any]], remarks: Sequence[str]
) -> Draft:
    calls = [RecordedCall(**call) for call in json.loads(bench.inputs["calls"].read_bytes())]
    last = RecordedCall(**own)
    session = Fact(last, "/session", last.result["session"])
    return draft_of([*calls, last], session, [FigureRef(**figure) for figure in figures], remarks)


def _drawn(
    bench: Bench, draft: Draft, figures: Sequence[dict[str, Any]], only: Sequence[str] = ()
) -> tuple[Draft, dict[str, bytes]]:
    """The draft with the figures that its facts allow, and the SVG of every figure by name."""
    images = {figure["name"]: bench.inputs[figure["name"]].read_bytes() for figure in figures}
    refs = list(draft.figures)
    for each in drawables(draft.found):
        if only and each.name not in only:
            continue
        bench.report(0.1 + 0.05 * len(refs), f"drawing {each.name}")
        drawing = draw(each.name, each.facts)
        leave(bench.output, each.name, drawing)
        call = each.source.call
        digest = sha256(drawing.svg).hexdigest()
        refs.append(FigureRef(each.name, title_of(each.name), digest, call.seq, call.key, call.node))
        images[each.name] = drawing.svg
    return replace(draft, figures=refs), images


def _leave(
    bench: Bench, name: str, report: Report, draft: Draft, images: dict[str, bytes]
) -> dict[str, JsonValue]:
    page, text = html.render(report, images), markdown.render(report)
    checked = _prove(report, draft, page, text)
    (bench.output / f"{name}.html").write_text(page, encoding="utf-8")
    (bench.output / f"{name}.md").write_text(text, encoding="utf-8")
    (bench.output / f"{name}.json").write_text(
        json.dumps(report.to_json(), ensure_ascii=False, allow_nan=False), encoding="utf-8"
    )
    return {
        "claims": len(report.claims),
        "checked": checked,
        "sections": [section.id for section in report.sections],
        "figures": [figure.name for figure in draft.figures],
        "titles": {figure.name: figure.title for figure in draft.figures},
    }


def _prove(report: Report, draft: Draft, page: str | None = None, text: str | None = None) -> int:
    """How many claims were read again from the calls; raises LabError when one does not hold."""
    verdict = verify(report.to_json(), draft.calls, page, text)
    if not verdict.passes:
        first = verdict.mismatches[0]
        raise LabError("report_unproven", f"The report fails its own check: {first.where}: {first.problem}")
    return verdict.checked
