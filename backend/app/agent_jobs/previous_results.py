"""The tables that came with a job: records of its message, or results of earlier jobs."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

from pydantic import ValidationError

from app.agent_jobs.message import JobMessage, PreviousResult, describe_faults
from app.artifacts.workspace import Workspace
from app.datasets.dataset_source import DatasetRef, DatasetSource
from app.datasets.session_datasets import find_dataset
from app.db.tables import ArtifactRow
from app.db.unit_of_work import OpenUnitOfWork
from app.errors import InvalidInput, NotFound
from app.sandbox.computation_runner import ComputationRunner
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import Call, CallResult, StepScope
from app.tools.data.frames import make_artifact

AGENT = "dispatcher"


@dataclass(frozen=True)
class JobTables:
    """A DatasetSource of the tables of a job above its datasets."""

    tables: Sequence[DatasetRef]
    datasets: DatasetSource

    async def list(self) -> Sequence[DatasetRef]:
        # A table that came with the job hides a dataset of its name.
        names = {table.table for table in self.tables}
        return [*self.tables, *(ref for ref in await self.datasets.list() if ref.table not in names)]

    async def get(self, name: str) -> DatasetRef:
        return find_dataset(await self.list(), name)


@dataclass(frozen=True)
class PreviousTables:
    """Reads the tables of the jobs of one owner."""

    open_uow: OpenUnitOfWork
    owner: UUID
    files: Workspace
    computer: ComputationRunner

    async def read(self, step: StepScope, message: JobMessage) -> Callable[[DatasetSource], JobTables]:
        """Store each table in a recorded call. Raises InvalidInput, and NotFound for an unknown result."""
        refs = []
        for place, previous in enumerate(parse_results(message.context.previous_results)):
            facts = await self._store(step, place, previous)
            table_id = uuid5(NAMESPACE_OID, f"table {previous.name}")
            refs.append(
                DatasetRef(
                    table_id, previous.name, previous.name, facts["digest"], facts["rows"], facts["columns"], {}
                )
            )
        return lambda datasets: JobTables(refs, datasets)

    async def _store(self, step: StepScope, place: int, previous: PreviousResult) -> Mapping[str, Any]:
        async def store() -> CallResult:
            if previous.result_ref is not None:
                return CallResult(await self._find(UUID(previous.result_ref.removeprefix("artifact://"))))
            blob = await self.files.put(json.dumps(previous.records).encode())
            computed = await self.computer.run(
                Computation("queries.records.read", {"rows": 0}), {"answer": blob.digest}
            )
            value: Any = computed.value
            file = computed.file("result.parquet")
            meta = {"rows": value["row_count"], "columns": value["columns"]}
            return CallResult(
                {"digest": file.digest, **meta},
                f"{previous.name} has {value['row_count']:,} rows.",
                [make_artifact(file, "frame", previous.name, meta)],
            )

        call = Call(f"choice:{place}", "choice", "store_previous_result", AGENT, {"name": previous.name})
        value = await step.call(call, store)
        return value if isinstance(value, dict) else {}

    async def _find(self, artifact_id: UUID) -> dict[str, Any]:
        """Find the table of an earlier job of the owner. Raises NotFound."""
        async with self.open_uow() as uow:
            row = await uow.db.get(ArtifactRow, artifact_id)
        columns = row.meta.get("columns") if row is not None else None
        if row is None or row.owner_id != self.owner or not columns:
            raise NotFound("result_not_found", f"You have no table artifact://{artifact_id}.")
        return {"digest": row.digest, "rows": row.meta.get("rows", 0), "columns": columns}


def parse_results(messages: Sequence[Any]) -> list[PreviousResult]:
    """Parse `previous_results`. Raises InvalidInput that names the wrong one."""
    results = []
    for place, part in enumerate(messages):
        try:
            result = PreviousResult.model_validate(part)
        except ValidationError as error:
            raise InvalidInput(
                "previous_result_wrong", f"previous_results/{place}: {describe_faults(error)}"
            ) from None
        if (result.records is None) == (result.result_ref is None):
            raise InvalidInput(
                "previous_result_wrong", f"previous_results/{place}: send `records` or `result_ref`."
            )
        results.append(result)
    return results
