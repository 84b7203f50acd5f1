"""Nodes that store their table as a dataset."""

from app.errors import InvalidInput
from app.sessions.step_scope import CallResult
from app.workflows.document import Node
from app.workflows.node_configs import Store
from app.workflows.runs.context import Results, RunContext
from app.workflows.runs.result_values import fill_template
from app.workflows.runs.schemas import NodeResult
from app.workflows.runs.tables import find_input_frame, has_unknown_columns


async def store_dataset(ctx: RunContext, node: Node, config: Store, results: Results) -> CallResult:
    """Store the table that reaches a node, once in a run: a dataset is found again by the key of run and node.

    Raises TooMany above the storage quota, InvalidInput for the table of an answer without records.
    """
    frame = await find_input_frame(ctx, ctx.document.inputs_of(node.id)[0])
    # A dataset of the wrong columns would break the workflows that read it.
    if has_unknown_columns(ctx, frame):
        raise InvalidInput(
            "columns_unknown",
            f"{node.id}: the answer had no rows, so its columns are not known: nothing was stored.",
        )
    name = fill_template(ctx, config.name, results)
    stored = await ctx.services.store_dataset(name, frame, f"workflow {ctx.session.id}:{node.id}")
    result = NodeResult(status="done", rows=frame.meta.get("rows"), dataset_id=stored.id)
    return CallResult(result.model_dump(mode="json"), f"{node.id} stored the dataset {stored.name}.")
