"""Tools of the reporter: recommendations, comparison and report, with numbers from the journal."""

import asyncio
import dataclasses
import json
import platform
import re
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePath
from typing import Annotated, Any

from pydantic import Field

from app.counts import describe_count
from app.datasets.dataset_source import DatasetRef
from app.errors import ToolRefused, Unavailable
from app.modeling.facts.column_units import find_unit
from app.recorded_call import RecordedCall
from app.reporting.advice import advise
from app.reporting.compose import build_draft
from app.reporting.document.inline_elements import plain_text
from app.reporting.evidence import RecordedFact
from app.reporting.gallery import GALLERY
from app.reporting.results import SUMMARY_TOOL, summarise
from app.sandbox.exchange.contract import Computation
from app.sandbox.outputs.storage import StoredFile
from app.sessions.recorded_facts import ArtifactFacts, SessionRecords
from app.sessions.step_scope import ArtifactDraft, CallResult
from app.sessions.usage import total_usage
from app.tools.context.tool_context import ToolContext
from app.tools.registry import tool

REPORTER = ("reporter",)
_LIBRARIES = (
    "labcrew",
    "scikit-learn",
    "lightgbm",
    "xgboost-cpu",
    "catboost",
    "pandas",
    "numpy",
    "skops",
    "duckdb",
    "matplotlib",
)
_KINDS = {"model_card.md": "model_card", "notebook.ipynb": "notebook"}
_LISTED_KINDS = ("model", "frame", "holdout", "table")

Remarks = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=600)]],
    Field(description="Up to five sentences of your own for the summary, in words only.", max_length=5),
]


@tool(agents=REPORTER)
async def generate_recommendations(ctx: ToolContext) -> CallResult:
    """Recommend next steps, each derived from a finding of this session."""
    calls = await _records(ctx).calls(ctx.step)
    session = await _session_facts(ctx)
    current_call = _current_call(ctx, "generate_recommendations", session)
    advice = advise(build_draft(calls, RecordedFact(current_call, "/session", session)))
    recommendations = [
        {"rule": recommendation.rule, "text": plain_text(recommendation.text)} for recommendation in advice
    ]
    value: Any = {"session": session, "recommendations": recommendations}
    texts = " ".join(str(recommendation["text"]) for recommendation in recommendations)
    summary = f"{describe_count(len(advice), 'recommendation')}. {texts}"
    return CallResult(value=value, summary=summary[:500].strip())


@tool(agents=REPORTER)
async def create_comparison_report(ctx: ToolContext) -> CallResult:
    """Write the comparison of all candidates beside the baseline."""
    value, files = await _write(ctx, "create_comparison_report", "report.write_comparison", {})
    return CallResult(value=value, summary=str(value["headline"]), artifacts=files)


@tool(agents=REPORTER)
async def generate_summary(ctx: ToolContext, remarks: Remarks = []) -> CallResult:  # noqa: B006 - never changed
    """Write the whole report (HTML, Markdown, JSON) and the model card. Call it last.

    Numbers come from the journal; `remarks` hold words only.
    """
    for remark in remarks:
        # Numbers of a model's own could not be checked, and would stand among those that are.
        if re.search(r"\d", remark):
            raise ToolRefused(
                f"Remarks must not contain numbers, which the report takes from the journal: {remark!r}."
            )
    value, files = await _write(ctx, SUMMARY_TOOL, "report.write_report", {"remarks": list(remarks)})
    return CallResult(value=value, summary=str(value["headline"]), artifacts=files)


async def session_result(ctx: ToolContext) -> dict[str, Any]:
    """Return the session's result as `reporting.results.summarise` forms it from the records so far."""
    records = _records(ctx)
    artifacts = [
        {"id": artifact.id, "kind": artifact.kind, "name": artifact.name}
        for artifact in await records.artifacts()
    ]
    return summarise(await records.calls(ctx.step), artifacts)


async def _write(
    ctx: ToolContext, name: str, function: str, params: Mapping[str, Any]
) -> tuple[dict[str, Any], list[ArtifactDraft]]:
    records = _records(ctx)
    calls = await records.calls(ctx.step)
    current_call = _current_call(ctx, name, await _session_facts(ctx))
    figures: Any = _figures(await records.artifacts(), calls)
    with tempfile.TemporaryDirectory(prefix="report-") as folder:
        recorded = Path(folder) / "calls.json"
        # In a thread: other sessions would wait while the journal of a long one is written.
        await asyncio.to_thread(_dump, recorded, calls)
        computed = await ctx.computer.run(
            Computation(function, {"own": dataclasses.asdict(current_call), "figures": figures, **params}),
            {"calls": recorded, **{str(figure["name"]): str(figure["digest"]) for figure in figures}},
        )
    facts: Any = computed.value
    files = [_artifact(file) for file in computed.files]
    return {**facts, "session": current_call.result["session"]}, files


def _dump(path: Path, calls: Sequence[RecordedCall]) -> None:
    path.write_text(json.dumps([dataclasses.asdict(call) for call in calls]), encoding="utf-8")


def _current_call(ctx: ToolContext, name: str, session: Mapping[str, Any]) -> RecordedCall:
    """Return the current call as it will be recorded: the report cites the session's facts in it."""
    return RecordedCall(
        ctx.step.seq, ctx.step.node, ctx.call, name, ctx.agent, None, {"session": dict(session)}
    )


async def _session_facts(ctx: ToolContext) -> dict[str, Any]:
    """Return the facts of the session itself, as JSON."""
    records = _records(ctx)
    return {
        "id": str(ctx.session.id),
        "goal": ctx.session.goal,
        "understanding": dict(ctx.understanding),
        "seed": ctx.session.seed,
        "created_at": ctx.session.created_at.isoformat(),
        "preferences": dict(ctx.session.preferences),
        # Recorded with the call, so that a verification reads the same facts again.
        "worked_s": round(ctx.step.worked_s, 1),
        "datasets": [_dataset(entry) for entry in await ctx.datasets.list()],
        "questions": [dataclasses.asdict(entry) for entry in await records.questions()],
        "usage": total_usage(await records.usage(ctx.step)).model_dump(mode="json"),
        "artifacts": [
            {"kind": entry.kind, "name": entry.name, "digest": entry.digest}
            for entry in await records.artifacts()
            if entry.kind in _LISTED_KINDS
        ],
        "versions": _versions(),
        **({"notes": [dict(note) for note in ctx.notes]} if ctx.notes else {}),
        **({"fork": dict(ctx.session.fork)} if ctx.session.fork else {}),
    }


def _dataset(ref: DatasetRef) -> dict[str, Any]:
    identity = {"name": ref.name, "table": ref.table, "digest": ref.digest}
    names = [str(column["name"]) for column in ref.columns]
    units = {name: dataclasses.asdict(unit) for name in names if (unit := find_unit(name, ref.reading))}
    return {**identity, "rows": ref.rows, "columns": len(names), "units": units, "notes": list(ref.notes)}


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def _figures(artifacts: Sequence[ArtifactFacts], calls: Sequence[RecordedCall]) -> list[dict[str, Any]]:
    """Return the newest SVG of each figure in the gallery, if drawn by the tool that the gallery names."""
    tools = {(call.seq, call.key): call.tool for call in calls}
    # Artifacts come oldest first, so the newest drawing of a name stays.
    figures = {
        path.stem: {"name": path.stem, "digest": artifact.digest, "step": artifact.seq, "call": artifact.call}
        for artifact in artifacts
        if artifact.kind == "figure"
        and (path := PurePath(artifact.name)).suffix == ".svg"
        # No folder in the name: a program can name its file like a figure of the gallery.
        and path.name == artifact.name
        if path.stem in GALLERY and GALLERY[path.stem].tool == tools.get((artifact.seq, artifact.call))
    }
    return list(figures.values())


def _artifact(file: StoredFile) -> ArtifactDraft:
    kind = _KINDS.get(file.name, "report")
    return ArtifactDraft(kind, file.name, file.media_type, file.digest, file.size_bytes)


def _records(ctx: ToolContext) -> SessionRecords:
    if ctx.records is None:
        raise Unavailable("no_records", "The tool context has no session records.")
    return ctx.records
