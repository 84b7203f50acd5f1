"""Write a report from recorded calls: draw, compose, render, check, leave."""

import json
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from app.computations.bench import Bench, JsonValue
from app.errors import LabError
from app.reporting import html, markdown, model_card
from app.reporting.check import verify
from app.reporting.compose import compose, draft_of
from app.reporting.document import spoken
from app.reporting.drawable import drawables
from app.reporting.evidence import Fact, RecordedCall
from app.reporting.figures.drawing import draw, leave
from app.reporting.found import gather
from app.reporting.sections.draft import Draft, FigureRef
from app.reporting.sections.summary import headline


def write_report(
    bench: Bench,
    own: dict[str, Any],
    figures: Sequence[dict[str, Any]] = (),
    remarks: Sequence[str] = (),
) -> JsonValue:
    """Input `calls` (JSON list of `RecordedCall`) and each of `figures` by name (SVG).

    `own`: the call that writes the report, as it will be recorded; its result holds `session`. `figures`:
    `[{"name", "title", "digest", "step", "call", "node"}]` drawn before. Leaves report.html, report.md,
    report.json, model_card.md and the figures drawn here. Answers
    `{"headline", "claims", "checked", "sections", "figures", "advice", "drawn"}`.
    """
    calls = [RecordedCall(**call) for call in json.loads(bench.inputs["calls"].read_bytes())]
    own_call = RecordedCall(**own)
    calls.append(own_call)
    images = {figure["name"]: bench.inputs[figure["name"]].read_bytes() for figure in figures}
    refs = [FigureRef(**figure) for figure in figures]
    draft = draft_of(calls, Fact(own_call, "/session", own_call.result["session"]), refs, remarks)
    bench.report(0.1, "drawing figures")
    drawn, files = _draw(bench, draft)
    draft = replace(draft, figures=[*refs, *(ref for ref, _ in drawn)])
    return _write(bench, draft, images | {ref.name: svg for ref, svg in drawn}, files)


def _draw(bench: Bench, draft: Draft) -> tuple[list[tuple[FigureRef, bytes]], list[JsonValue]]:
    made: list[tuple[FigureRef, bytes]] = []
    files: list[JsonValue] = []
    for each in drawables(draft.found):
        drawing = draw(each.name, each.facts)
        files += leave(bench.output, each.name, drawing)
        call = each.source.call
        digest = sha256(drawing.svg).hexdigest()
        title = each.name.replace("_", " ").capitalize()
        made.append((FigureRef(each.name, title, digest, call.seq, call.key, call.node), drawing.svg))
    return made, files


def _write(bench: Bench, draft: Draft, images: dict[str, bytes], files: list[JsonValue]) -> JsonValue:
    bench.report(0.6, "writing the report")
    report = compose(draft)
    card = model_card.compose(draft)
    answer = report.to_json()
    page, text = html.render(report, images), markdown.render(report)
    verdict = verify(answer, draft.calls, page, text)
    if not verdict.passes:
        first = verdict.mismatches[0]
        raise LabError("report_unproven", f"The report fails its own check: {first.where}: {first.problem}")
    (bench.output / "report.html").write_text(page, encoding="utf-8")
    (bench.output / "report.md").write_text(text, encoding="utf-8")
    (bench.output / "report.json").write_text(json.dumps(answer, ensure_ascii=False), encoding="utf-8")
    if card is not None:
        (bench.output / "model_card.md").write_text(markdown.render(card), encoding="utf-8")
    return {
        "headline": spoken(headline(draft)),
        "claims": len(report.claims),
        "checked": verdict.checked,
        "sections": [section.id for section in report.sections],
        "figures": [figure.name for figure in draft.figures],
        "drawn": files,
    }


__all__ = ["gather", "write_report"]
