"""Executions of steps: a pipeline that is run once, in the step of a turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.errors import InvalidInput, ToolRefused
from app.sessions.step_scope import StepScope
from app.tools.context.conversation_workflows import ComputedTable
from app.workflows.document import WorkflowDocument, nodes_by_id
from app.workflows.document_check import DocumentCheck
from app.workflows.faults import WorkflowFault
from app.workflows.fusion import parse
from app.workflows.item_documents import INNER_TYPES
from app.workflows.pipeline_documents import make_steps_document
from app.workflows.runs.branches import find_closing
from app.workflows.runs.context import RunContext, RunServices
from app.workflows.runs.node_execution import record_node
from app.workflows.runs.schemas import NodeResult
from app.workflows.runs.tables import MAX_PREVIEW_ROWS, TableFacts, compute_sql
from app.workflows.stages import find_table_node, list_stages
from app.workflows.validation import find_outputs

SOURCES = ("http_request", "read_dataset", "read_result", "plan")
MAX_TURN_WAIT_S = 60.0
"""Longest wait that a server may ask a turn for, in seconds: somebody sits before it."""
LASTING = ("notify", "store", "condition")
"""Types that belong to workflows: what they do lasts, or ends a branch."""
JOINING = ("join", "union")
"""Types that take a second table: that of the step in `with`."""
STEP_TYPES = (*SOURCES, *JOINING, *(name for name in INNER_TYPES if name not in LASTING))


@dataclass(frozen=True)
class Pipelines:
    """Runs steps for one turn. `services`: those of nodes, over the tables of the turn's session."""

    check: DocumentCheck
    services: RunServices

    async def execute(self, step: StepScope, key: str, steps: Sequence[Mapping[str, Any]]) -> ComputedTable:
        """Run steps, each in a recorded call, and return the last table.

        Raises ToolRefused for steps that do not fit, InvalidInput with what failed.
        """
        # Before any fault is looked for: a step that is refused is named as such, and not as wrong.
        for place, content in enumerate(steps):
            _require_allowed(place, content)
        document = make_steps_document(steps, f"{key}-")
        require_fitting(await self.check.find_faults(document))
        outputs = find_outputs(document)
        if len(outputs) > 1:
            raise ToolRefused(
                "Several tables are left at the end. Give one a `name`, and join or unite it by `with`."
            )
        ctx = RunContext(step, replace(self.services, max_wait_s=MAX_TURN_WAIT_S), document)
        await _run_stages(ctx, document)
        table = find_table_node(document, outputs[0])
        frame = next(frame for frame in await self.services.frames.frames() if frame.name == table)
        facts = TableFacts.model_validate(
            (await compute_sql(ctx, "SELECT * FROM result", {"result": frame.digest})).value
        )
        return ComputedTable(frame.digest, facts.columns, facts.rows[:MAX_PREVIEW_ROWS], facts.row_count)


def _require_allowed(place: int, step: Mapping[str, Any]) -> None:
    """Raises ToolRefused for a step that lasts, or that may change something elsewhere: nobody approves it."""
    type_, config = step.get("type"), step.get("config")
    if type_ not in STEP_TYPES:
        raise ToolRefused(
            f"steps/{place}: {type_} is no step of a pipeline. There are: {', '.join(STEP_TYPES)}."
        )
    if isinstance(config, Mapping) and config.get("method", "GET") != "GET":
        raise ToolRefused(
            f"steps/{place}: only GET requests are sent from here. Put another one into a workflow, which the "
            "user approves."
        )


async def _run_stages(ctx: RunContext, document: WorkflowDocument) -> None:
    results: dict[str, NodeResult] = {}
    for node_id in list_stages(document):
        node = nodes_by_id(document)[node_id]
        if find_closing(ctx, node, results) is not None:
            continue
        results[node_id] = result = await record_node(ctx, node, parse(node), results)
        if result.status != "done":
            raise InvalidInput(result.code or "step_failed", f"{node.type}: {result.error}")


def require_fitting(faults: Sequence[WorkflowFault]) -> None:
    """Raises ToolRefused that names the faults by their pointers."""
    if faults:
        reasons = "; ".join(f"{fault.pointer}: {fault.message}" for fault in faults[:5])
        raise ToolRefused(reasons, nearest=[name for fault in faults for name in fault.nearest][:5])
