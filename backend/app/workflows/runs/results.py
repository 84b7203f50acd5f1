"""Nodes that read the table of a job, a study or another run."""

from app.errors import NotFound
from app.sessions.step_scope import CallResult
from app.workflows.document import Node
from app.workflows.node_configs import ReadResult
from app.workflows.runs.context import RunContext
from app.workflows.runs.tables import compute_sql, store_table


async def read_result(ctx: RunContext, node: Node, config: ReadResult) -> CallResult:
    """Store the table that is there now as that of the node. Raises NotFound where there is none."""
    table = await ctx.services.earlier_runs.find_table(config)
    if table is None:
        raise NotFound("result_not_found", f"There is no table {config.describe()} yet, or not any more.")
    computed = await compute_sql(ctx, "SELECT * FROM result", {"result": table.digest})
    made_at = f"{table.made_at:%Y-%m-%d %H:%M} UTC"
    return store_table(node, computed, [f"The table {table.name} was made at {made_at}."])
