"""A whole session in this process: real tables, real computations in real cells, a journal in memory."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pandas as pd
import pytest
import pytest_asyncio
from tests.patience import HANG_GUARD_S

from app.agents.roster import assemble_crew
from app.artifacts.session_workspace import FILE_KINDS
from app.artifacts.workspace import FileRef, FrameRef
from app.charts.renderer import ChartRenderer
from app.datasets.dataset_source import DatasetRef
from app.datasets.prices import Prices
from app.datasets.session_datasets import find_dataset
from app.errors import LabError
from app.llm.config import ChatConfig
from app.modeling.facts.readings import FileReading
from app.modeling.problem.name_resolution import resolve_name
from app.pipeline.graph import make_graph_spec
from app.recorded_call import RecordedCall
from app.sandbox.computation_runner import ComputationRunner
from app.sandbox.exchange.contract import Computation, Limits
from app.sandbox.provider.cell_provider import ProcessProvider
from app.sandbox.provider.process_config import ProcessConfig
from app.sessions.graphs import GraphSpec
from app.sessions.in_memory import MemoryDrive, MemoryJournal
from app.sessions.recorded_facts import ArtifactFacts, QuestionFacts
from app.sessions.schemas import StepUsage
from app.sessions.step_scope import Fit, FitOutcome, SessionFacts, StepScope
from app.storage.blobs import Blob
from app.storage.folder import FolderBlobs
from app.tools.toolsets import Toolsets


@dataclass
class JournalWorkspace:
    """A Workspace over the artifacts of a journal in memory."""

    journal: MemoryJournal
    blobs: FolderBlobs

    async def frame(self, name: str) -> FrameRef:
        return await self.artifact("frame", name)

    async def frames(self) -> list[FrameRef]:
        return list(self._frames_by_name("frame").values())

    async def artifact(self, kind: str, name: str) -> FrameRef:
        frames_by_name = self._frames_by_name(kind)
        return frames_by_name[resolve_name(name, frames_by_name, kind)]

    async def artifacts(self, kind: str) -> list[FrameRef]:
        return list(self._frames_by_name(kind).values())

    async def files(self) -> list[FileRef]:
        drafts = {draft.name: draft for draft in self.journal.artifacts if draft.kind in FILE_KINDS}
        return [FileRef(draft.name, draft.digest, draft.size_bytes) for draft in drafts.values()]

    async def file(self, name: str) -> FileRef:
        files = {file.name: file for file in await self.files()}
        return files[resolve_name(name, files, "file")]

    async def read(self, file: FileRef) -> bytes:
        return b"".join([piece async for piece in self.blobs.open(file.digest)])

    async def put(self, data: bytes) -> Blob:
        return await self.blobs.put_bytes(data)

    async def is_split(self) -> bool:
        return bool(self._frames_by_name("holdout"))

    def _frames_by_name(self, kind: str) -> dict[str, FrameRef]:
        return {
            draft.name: FrameRef(draft.name, draft.digest, draft.meta)
            for draft in self.journal.artifacts
            if draft.kind == kind
        }


@dataclass
class JournalRecords:
    """A SessionRecords over a journal in memory."""

    journal: MemoryJournal

    async def calls(self, step: StepScope) -> Sequence[RecordedCall]:
        nodes = {seq: node for seq, (node, _) in self.journal.steps.items()}
        places = list(self.journal.calls)
        return [
            RecordedCall(
                seq,
                nodes.get(seq, step.node),
                key,
                call.name,
                call.agent,
                call.request,
                json.loads(self.journal.calls[seq, key][1]),
                failed=recorded.failed,
            )
            for (seq, key), (call, recorded) in zip(places, self.journal.recorded, strict=True)
            if call.kind == "tool"
        ]

    async def artifacts(self) -> Sequence[ArtifactFacts]:
        places = list(self.journal.calls)
        return [
            ArtifactFacts(
                draft.id,
                draft.kind,
                draft.name,
                draft.media_type,
                draft.digest,
                draft.size_bytes,
                seq,
                key,
                draft.meta,
            )
            for (seq, key), (_, recorded) in zip(places, self.journal.recorded, strict=True)
            for draft in recorded.artifacts
        ]

    async def questions(self) -> Sequence[QuestionFacts]:
        return [
            QuestionFacts(
                question.key,
                question.agent,
                question.text,
                question.default,
                self._answer(question.key),
                "user",
            )
            for question in self.journal.questions
        ]

    async def is_tool_allowed(self, tool: str) -> bool:
        return False

    async def usage(self, step: StepScope) -> Sequence[StepUsage]:
        return []

    async def count_look(self, step: StepScope) -> dict[str, Any] | None:
        return None

    def _answer(self, key: str) -> Any:
        return next((v for k, v in self.journal.answers.items() if k.endswith(key)), None)


@dataclass
class Shelf:
    datasets: list[DatasetRef] = field(default_factory=list)

    async def list(self) -> Sequence[DatasetRef]:
        return self.datasets

    async def get(self, name: str) -> DatasetRef:
        return find_dataset(self.datasets, name)


@dataclass
class Lab:
    """Runs sessions; `drive` makes one that can be run again over the same journal."""

    computer: ComputationRunner
    blobs: FolderBlobs
    shelf: Shelf = field(default_factory=Shelf)
    prices: Prices | None = None
    renderer: ChartRenderer | None = None

    async def upload(self, path: Path, name: str | None = None) -> DatasetRef:
        work = Computation("uploads.ingest.ingest", {"filename": path.name})
        computed = await self.computer.run(work, {"upload": path})
        facts: Any = computed.value
        table = computed.file("table.parquet")
        ref = DatasetRef(
            uuid4(),
            name or path.stem,
            name or path.stem,
            table.digest,
            facts["rows"],
            facts["columns"],
            facts["profile"],
            table.size_bytes,
            FileReading.model_validate(facts["reading"]),
        )
        self.shelf.datasets.append(ref)
        return ref

    def drive(
        self,
        goal: str,
        preferences: Mapping[str, Any] | None = None,
        journal: MemoryJournal | None = None,
        chat: ChatConfig | None = None,
        crew: Any = None,
    ) -> MemoryDrive:
        journal = journal or MemoryJournal()
        journal.run_fit = self.fit
        return MemoryDrive(
            self.spec(journal, crew or assemble_crew(chat or ChatConfig(), Toolsets())),
            facts(goal, preferences),
            journal,
        )

    def spec(self, journal: MemoryJournal, crew: Any) -> GraphSpec:
        return make_graph_spec(
            crew,
            self.computer,
            lambda _: JournalWorkspace(journal, self.blobs),
            lambda _: self.shelf,
            lambda _: JournalRecords(journal),
            (lambda facts: self.prices) if self.prices else None,
            renderer=self.renderer,
        )

    async def read(self, digest: str) -> pd.DataFrame:
        """A frame that a session left."""
        return pd.read_parquet(BytesIO(b"".join([piece async for piece in self.blobs.open(digest)])))

    async def fit(self, fit: Fit) -> FitOutcome:
        try:
            computed = await self.computer.run(Computation(fit.function, fit.params), fit.inputs, fit.limits)
        except LabError as error:
            return FitOutcome(fit.name, "failed", reason=error.detail)
        files = {
            file.name: {"digest": file.digest, "size_bytes": file.size_bytes, "media_type": file.media_type}
            for file in computed.files
        }
        return FitOutcome(fit.name, "done", computed.value, files, wall_s=computed.usage.wall_s)


def facts(goal: str, preferences: Mapping[str, Any] | None = None) -> SessionFacts:
    return SessionFacts(
        id=UUID(int=1),
        owner_id=UUID(int=2),
        goal=goal,
        # Counts decide: what a session comes to in seconds depends on the machine.
        preferences={"time_budget_s": 5, "deterministic": True, **(preferences or {})},
        dataset_ids=(),
        seed=0,
        created_at=datetime.now(UTC),
    )


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def computer(
    cells_socket: Path, blobs: FolderBlobs, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[ComputationRunner]:
    home = tmp_path_factory.mktemp("lab")
    cells = ProcessProvider(ProcessConfig(home=home, socket=cells_socket))
    await cells.start()
    try:
        # The operator's limit, of which a slow machine must not run out.
        yield ComputationRunner(cells, blobs, cells.scratch, Limits(time_s=HANG_GUARD_S))
    finally:
        await cells.close()


@pytest.fixture(scope="session")
def blobs(tmp_path_factory: pytest.TempPathFactory) -> FolderBlobs:
    return FolderBlobs(tmp_path_factory.mktemp("blobs"))


@pytest_asyncio.fixture(loop_scope="session")
async def lab(computer: ComputationRunner, blobs: FolderBlobs) -> Lab:
    return Lab(computer, blobs)
