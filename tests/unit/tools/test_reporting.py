"""The reporter's tools over a session that really ran; cells are replaced by this process."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from uuid import UUID

import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.datasets.dataset_source import DatasetRef
from app.errors import LabError, ToolRefused, Unavailable
from app.recorded_call import RecordedCall
from app.reporting.verification import verify_report
from app.sandbox.computation_runner import ComputationRunner
from app.sandbox.exchange.contract import CellRequest, Computation, End, Fault, Outcome, Progress, Usage
from app.sessions.in_memory import MemoryJournal, MemoryStep
from app.sessions.recorded_facts import ArtifactFacts, QuestionFacts
from app.sessions.schemas import StepUsage
from app.sessions.step_scope import CallResult, SessionFacts, StepScope
from app.storage.folder import FolderBlobs
from app.tools.context.tool_context import ToolContext
from app.tools.reporting import (
    create_comparison_report,
    generate_recommendations,
    generate_summary,
    session_result,
)

RECORDED = Path(__file__).parents[1] / "reporting" / "recorded"
SESSION = SessionFacts(
    id=UUID(int=1),
    owner_id=UUID(int=2),
    goal="Predict which passengers survived.",
    preferences={},
    dataset_ids=(),
    seed=7,
    created_at=datetime(2026, 3, 14, tzinfo=UTC),
)


class InlineCells:
    """A cell provider without cells."""

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def run(self, request: CellRequest, on_progress: Progress | None = None) -> Outcome:
        assert isinstance(request.work, Computation)
        module, name = request.work.function.split(".")
        function = getattr(import_module(f"app.computations.{module}"), name)
        usage = Usage(0, 0, 0)
        try:
            value = function(
                CellWorkspace(request.inputs, request.output), **json.loads(json.dumps(request.work.params))
            )
        except LabError as error:
            return Outcome(End.REFUSED, usage, fault=Fault(error.code, error.detail, {}, error.kind))
        return Outcome(End.RETURNED, usage, value, files=tuple(p.name for p in request.output.iterdir()))


@dataclass
class Shelf:
    async def list(self) -> Sequence[DatasetRef]:
        columns = [{"name": "age"}]
        return [
            DatasetRef(
                UUID(int=3), "titanic", "titanic", "ab" * 32, 1313, columns, {}, 10, notes=("10 empty rows.",)
            )
        ]

    async def get(self, name: str) -> DatasetRef:
        raise NotImplementedError


@dataclass
class Records:
    recorded: list[RecordedCall]
    kept: list[ArtifactFacts] = field(default_factory=list)

    async def calls(self, step: StepScope) -> Sequence[RecordedCall]:
        return self.recorded

    async def artifacts(self) -> Sequence[ArtifactFacts]:
        return self.kept

    async def questions(self) -> Sequence[QuestionFacts]:
        return [QuestionFacts("1.tool:1.0", "planner", "Which metric?", "f1", None, "default")]

    async def usage(self, step: StepScope) -> Sequence[StepUsage]:
        return []

    async def is_tool_allowed(self, tool: str) -> bool:
        return False


def titanic() -> list[RecordedCall]:
    return [RecordedCall(**call) for call in json.loads((RECORDED / "titanic.json").read_text())]


@pytest.fixture
def records() -> Records:
    return Records(titanic())


@pytest.fixture
def ctx(records: Records, blob_store: FolderBlobs, tmp_path: Path) -> ToolContext:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return ToolContext(
        agent="reporter",
        step=MemoryStep(SESSION, MemoryJournal(), seq=20, node="reporting"),
        frames=None,  # type: ignore[arg-type]  # the reporter opens no frame
        datasets=Shelf(),
        computer=ComputationRunner(InlineCells(), blob_store, scratch),
        call="tool:2.0",
        records=records,
    )


async def text(blobs: FolderBlobs, made: CallResult, name: str) -> str:
    draft = next(artifact for artifact in made.artifacts if artifact.name == name)
    return (await blobs.local_path(draft.digest)).read_text(encoding="utf-8")


def record(records: Records, ctx: ToolContext, tool: str, made: CallResult) -> None:
    """What the journal does with a finished call."""
    records.recorded.append(
        RecordedCall(
            ctx.step.seq, ctx.step.node, ctx.call, tool, ctx.agent, {}, json.loads(json.dumps(made.value))
        )
    )
    records.kept += [
        ArtifactFacts(d.id, d.kind, d.name, d.media_type, d.digest, d.size_bytes, ctx.step.seq, ctx.call)
        for d in made.artifacts
    ]


async def test_generate_summary_writes_a_report_that_passes_the_check(
    ctx: ToolContext, records: Records, blob_store: FolderBlobs
) -> None:
    made = await generate_summary(ctx)

    kinds = {artifact.name: artifact.kind for artifact in made.artifacts}
    assert kinds["report.html"] == kinds["report.md"] == kinds["report.json"] == "report"
    assert kinds["model_card.md"] == "model_card"
    assert isinstance(made.value, dict)
    assert made.value["checked"] == made.value["claims"]
    assert made.summary.startswith("Right for 71 of 100 passengers that it names")
    report = json.loads(await text(blob_store, made, "report.json"))
    page, words = await text(blob_store, made, "report.html"), await text(blob_store, made, "report.md")
    record(records, ctx, "generate_summary", made)
    verdict = verify_report(report, records.recorded, page, words)
    assert verdict.mismatches == ()
    assert verdict.checked > 100


async def test_the_session_result_names_the_report(ctx: ToolContext, records: Records) -> None:
    assert (await session_result(ctx))["report"] is None
    made = await generate_summary(ctx)
    record(records, ctx, "generate_summary", made)

    result = await session_result(ctx)

    page = next(artifact for artifact in made.artifacts if artifact.name == "report.html")
    assert result["report"]["artifact"] == str(page.id)
    assert result["report"]["checked_claims"] > 100
    assert result["file_notes"] == ["10 empty rows."]
    assert json.loads(json.dumps(result)) == result


async def test_a_figure_is_in_the_report_only_if_its_own_tool_drew_it(
    ctx: ToolContext, records: Records, blob_store: FolderBlobs
) -> None:
    blob = await blob_store.put_bytes(b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    eda = next(call for call in records.recorded if call.tool == "perform_eda")
    for name in ("missing_values.svg", "../../missing_values.svg", "calls.svg", "roc.svg"):
        records.kept.append(
            ArtifactFacts(
                UUID(int=9), "figure", name, "image/svg+xml", blob.digest, blob.size_bytes, eda.seq, eda.key
            )
        )

    made = await generate_summary(ctx)

    page = await text(blob_store, made, "report.html")
    assert "PHN2ZyB4bWxucz0naHR0cDov" in page
    assert page.count("<img") == 1
    assert isinstance(made.value, dict)
    assert made.value["figures"] == ["missing_values"]


@pytest.mark.parametrize("remark", ["It is 99% right.", "Version ٣ is better."])
async def test_a_remark_holds_no_number(ctx: ToolContext, remark: str) -> None:
    with pytest.raises(ToolRefused, match="must not contain numbers"):
        await generate_summary(ctx, [remark])


async def test_a_remark_stands_in_the_summary_as_plain_text(ctx: ToolContext, blob_store: FolderBlobs) -> None:
    made = await generate_summary(ctx, ["Women <b>first</b>, it seems."])

    assert "Women &lt;b&gt;first&lt;/b&gt;, it seems." in await text(blob_store, made, "report.html")


async def test_recommendations_follow_from_findings(ctx: ToolContext) -> None:
    made = await generate_recommendations(ctx)

    assert isinstance(made.value, dict)
    rules = [each["rule"] for each in made.value["recommendations"]]  # type: ignore[union-attr, call-overload, index]
    assert "try_on_new_rows" in rules
    texts = [str(each["text"]) for each in made.value["recommendations"]]  # type: ignore[union-attr, call-overload, index]
    assert f"{len(rules)} recommendations. {' '.join(texts)}".startswith(made.summary)
    assert texts[0] in made.summary


async def test_the_comparison_has_every_candidate_beside_the_baseline(
    ctx: ToolContext, blob_store: FolderBlobs
) -> None:
    made = await create_comparison_report(ctx)

    words = await text(blob_store, made, "comparison.md")
    for name in ("LogisticRegression", "RandomForest", "GradientBoosting", "XGBoost", "baseline"):
        assert f"[{name}]" in words
    assert {artifact.name for artifact in made.artifacts} == {
        "comparison.html",
        "comparison.md",
        "comparison.json",
    }


async def test_with_nothing_fitted_there_is_nothing_to_compare(ctx: ToolContext, records: Records) -> None:
    records.recorded.clear()

    with pytest.raises(LabError, match="No candidates were compared yet"):
        await create_comparison_report(ctx)


async def test_a_session_without_results_still_gets_its_report(
    ctx: ToolContext, records: Records, blob_store: FolderBlobs
) -> None:
    records.recorded.clear()

    made = await generate_summary(ctx)

    assert {artifact.name for artifact in made.artifacts} == {"report.html", "report.md", "report.json"}
    assert "No model was evaluated" in await text(blob_store, made, "report.md")


async def test_without_records_the_reporter_cannot_work(ctx: ToolContext) -> None:
    with pytest.raises(Unavailable):
        await generate_recommendations(replace(ctx, records=None))
