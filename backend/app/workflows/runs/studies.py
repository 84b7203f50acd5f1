"""Nodes that start studies of the crew and wait for them."""

from uuid import UUID, uuid5

from app.errors import InvalidInput
from app.sessions.lifecycle import SessionStatus
from app.sessions.step_scope import CallResult
from app.workflows.document import Node, nodes_by_id
from app.workflows.fusion import parse
from app.workflows.node_configs import ReadDataset, RunStudy
from app.workflows.runs.context import Results, RunContext
from app.workflows.runs.schemas import NodeResult, StudyOutcome

_ENDED_EARLY = {
    SessionStatus.CANCELLED: "The study was cancelled before it had a result. Run this node again to start "
    "another one.",
    SessionStatus.FAILED: "The study failed.",
}


async def run_study(ctx: RunContext, node: Node, config: RunStudy, results: Results) -> CallResult:
    """Start a study, once in a run, and wait for it. The run gives its place up: the study may need it."""
    ids = [_find_dataset(ctx, source, results) for source in ctx.document.inputs_of(node.id)]
    # Another attempt starts another study; the same one after a crash finds its own.
    attempt = f" {ctx.attempt}" if ctx.attempt > 1 else ""
    study = uuid5(ctx.session.id, f"study {node.id}{attempt}")
    await ctx.services.start_study(ctx.session.id, study, config, list(dict.fromkeys(ids)))
    await ctx.step.wait_for_session(study, config.timeout_s)
    result = _make_result(study, await ctx.services.earlier_runs.find_study(study), config.timeout_s)
    text = result.error or f"{node.id} waited for the study {study}."
    return CallResult(result.model_dump(mode="json"), text, failed=result.status == "failed")


def _make_result(study: UUID, outcome: StudyOutcome | None, timeout_s: float) -> NodeResult:
    if outcome is None:
        error = f"The study did not end within {timeout_s:,.0f} s. It goes on."
        return NodeResult(status="failed", study_id=study, error=error, code="study_timed_out")
    if outcome.status is not SessionStatus.COMPLETED:
        error = outcome.error or _ENDED_EARLY[outcome.status]
        return NodeResult(
            status="failed", study_id=study, study=outcome, error=error, code=f"study_{outcome.status}"
        )
    return NodeResult(status="done", study_id=study, study=outcome)


def _find_dataset(ctx: RunContext, source: str, results: Results) -> UUID:
    """Return the dataset that a node reads, or that it stored in this run."""
    config = parse(nodes_by_id(ctx.document)[source])
    dataset = config.dataset_id if isinstance(config, ReadDataset) else results[source].dataset_id
    if dataset is None:
        raise InvalidInput("dataset_missing", f"{source} stored no dataset.")
    return UUID(str(dataset))
