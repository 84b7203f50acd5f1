"""Retries and time limits of nodes: where they have an effect, and how a node is run again."""

import asyncio
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from pydantic import ValidationError
from tests.unit.workflows.test_named_values import READ, TOP, chain, tell

from app.artifacts.workspace import FrameRef
from app.sandbox.computation_runner import ComputationFailed, ComputationResult
from app.sandbox.exchange.contract import Usage
from app.sandbox.outputs.storage import StoredFile
from app.sessions.in_memory import MemoryJournal, MemoryStep
from app.sessions.step_scope import SessionFacts
from app.storage.blobs import StoreUnavailable
from app.workflows.document import Node, WorkflowDocument
from app.workflows.fusion import is_plain, parse
from app.workflows.node_limits import find_limit_faults
from app.workflows.runs.context import RunContext
from app.workflows.runs.node_execution import record_node
from app.workflows.runs.schemas import NodeResult

LAST = {"id": "last", "type": "limit", "config": {"rows": 1}}
CODE = {"id": "code", "type": "python", "config": {"code": "keep['x'] = 1"}}


def places(document: WorkflowDocument) -> list[str]:
    return [fault.pointer for fault in find_limit_faults(document)]


def test_limits_belong_to_nodes_that_a_run_executes_for_themselves() -> None:
    limits = {"retries": 2, "timeout_s": 30}
    assert places(chain(READ, TOP, {**LAST, **limits})) == []
    assert places(chain(READ, TOP, {**CODE, **limits}, LAST)) == []
    assert places(chain(READ, {**TOP, **limits}, LAST)) == ["/nodes/1/retries", "/nodes/1/timeout_s"]
    assert places(chain(READ, {**TOP, "retries": 1}, LAST, tell("{{top.rows}}"))) == []
    assert places(chain(READ, {**tell(""), **limits})) == ["/nodes/1/retries", "/nodes/1/timeout_s"]


def test_limits_in_for_each_belong_to_its_nodes() -> None:
    inner = [{**TOP, "retries": 1}, {**LAST, "retries": 1}]
    each = {"id": "each", "type": "for_each", "retries": 1, "config": {"column": "city", "nodes": inner}}
    assert places(chain(READ, each)) == ["/nodes/1/retries", "/nodes/1/config/nodes/0/retries"]


def test_a_document_without_limits_is_stored_without_them() -> None:
    assert chain(READ, LAST).to_json()["nodes"][1] == LAST
    limited = {**LAST, "retries": 1, "timeout_s": 2.5}
    assert chain(READ, limited).to_json()["nodes"][1] == limited
    assert is_plain(chain(READ, LAST))
    assert not is_plain(chain(READ, limited))


@pytest.mark.parametrize("limit", [{"retries": 6}, {"retries": -1}, {"timeout_s": 0}, {"timeout_s": 1e6}])
def test_limits_are_bounded(limit: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Node.model_validate({**CODE, **limit})


class Cells:
    """Cells whose first computations end as told, and later ones with an empty table; frames: none."""

    def __init__(self, *ends: Exception | float) -> None:
        self.ends = list(ends)
        self.runs = 0
        self.cancelled = 0

    async def frames(self) -> list[FrameRef]:
        return []

    async def run(self, work: Any, inputs: Any) -> ComputationResult:
        self.runs += 1
        end = self.ends.pop(0) if self.ends else 0.0
        if isinstance(end, Exception):
            raise end
        try:
            await asyncio.sleep(end)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        table = StoredFile("result.parquet", "0" * 64, 1, "application/vnd.apache.parquet")
        return ComputationResult({"columns": [], "rows": [], "row_count": 0}, (table,), Usage(0, 0, 0))


def fail() -> Exception:
    return ComputationFailed("computation_died", "Its process died.")


async def run(cells: Cells, journal: MemoryJournal, **limits: float) -> NodeResult:
    node = Node.model_validate({"id": "sum", "type": "sql", "config": {"sql": "SELECT 1"}, **limits})
    document = WorkflowDocument(nodes=[node])
    session = SessionFacts(
        UUID(int=1), UUID(int=2), document.model_dump_json(by_alias=True), {}, (), 0, datetime.now(UTC)
    )
    services: Any = SimpleNamespace(frames=cells, computer=cells)
    ctx = RunContext(MemoryStep(session, journal), services)
    return await record_node(ctx, node, parse(node), {})


async def test_a_node_that_fails_is_run_again_and_its_attempts_are_recorded() -> None:
    cells, journal = Cells(fail()), MemoryJournal()
    result = await run(cells, journal, retries=2)
    assert (result.status, result.attempts) == ("done", 2)
    assert result.notes == ["Attempt 1 failed: Its process died."]
    assert [call.key for call, _ in journal.recorded] == ["tool:sum", "choice:wait:sum:1", "tool:sum:2"]
    # A replay runs nothing, and comes to the same.
    assert await run(cells, journal, retries=2) == result
    assert cells.runs == 2


async def test_a_node_fails_after_its_last_attempt_and_without_retries_after_the_first() -> None:
    result = await run(Cells(fail(), fail()), MemoryJournal(), retries=1)
    assert (result.status, result.code, result.attempts) == ("failed", "computation_died", 2)
    alone = await run(Cells(fail()), MemoryJournal())
    assert (alone.status, alone.attempts, alone.notes) == ("failed", None, [])


async def test_a_failure_of_this_service_is_no_attempt() -> None:
    with pytest.raises(StoreUnavailable):
        await run(Cells(StoreUnavailable("store_unavailable", "No store.")), MemoryJournal(), retries=5)


async def test_an_attempt_that_takes_too_long_is_cancelled() -> None:
    cells = Cells(3_600.0)
    # clock: the computation never ends: only the limit can end it
    result = await run(cells, MemoryJournal(), timeout_s=0.05)
    assert (result.code, cells.cancelled) == ("node_timed_out", 1)
    assert result.error == "sum took longer than its limit of 0.05 s."
