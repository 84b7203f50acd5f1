"""Nodes that start studies of the crew."""

from uuid import UUID, uuid5

from app.errors import InvalidInput
from app.sessions.step_scope import CallResult
from app.workflows.document import Node, nodes_by_id
from app.workflows.fusion import parse
from app.workflows.node_configs import ReadDataset, RunStudy
from app.workflows.runs.context import Results, RunContext
from app.workflows.runs.schemas import NodeResult


async def start_study(ctx: RunContext, node: Node, config: RunStudy, results: Results) -> CallResult:
    """Start a study, once in a run. The run does not wait: it would hold a place that the study may need."""
    ids = [_find_dataset(ctx, source, results) for source in ctx.document.inputs_of(node.id)]
    study = uuid5(ctx.session.id, f"study {node.id}")
    await ctx.services.start_study(study, config, list(dict.fromkeys(ids)))
    result = NodeResult(status="done", study_id=study)
    return CallResult(result.model_dump(mode="json"), f"{node.id} started the study {study}.")


def _find_dataset(ctx: RunContext, source: str, results: Results) -> UUID:
    """Return the dataset that a node reads, or that it stored in this run."""
    config = parse(nodes_by_id(ctx.document)[source])
    dataset = config.dataset_id if isinstance(config, ReadDataset) else results[source].dataset_id
    if dataset is None:
        raise InvalidInput("dataset_missing", f"{source} stored no dataset.")
    return UUID(str(dataset))
