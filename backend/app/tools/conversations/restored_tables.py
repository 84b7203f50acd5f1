"""Changes of tables taken back: the tables of a conversation as they were before."""

from typing import Annotated

from pydantic import Field

from app.counts import describe_count
from app.errors import ToolRefused
from app.json_types import JsonValue
from app.sessions.step_scope import CallResult
from app.tools.context.tool_context import ToolContext
from app.tools.conversations.queries import ASSISTANT
from app.tools.conversations.workspace_changes import save_snapshot
from app.tools.registry import tool
from app.workspaces.conversation import ConversationTables
from app.workspaces.earlier_states import State, find_earlier_state

MAX_STATES = 200
"""Turns that are gone through: a state names up to some hundred tables with their columns."""


@tool(agents=ASSISTANT)
async def restore_tables(
    ctx: ToolContext,
    changes: Annotated[
        int | None, Field(ge=1, le=20, description="Turns whose changes are taken back; null for all.")
    ] = 1,
) -> CallResult:
    """Take back the last changes of tables of the conversation, when the user wants to undo them."""
    conversation = ctx.conversation
    tables = await conversation.tables()
    states = await conversation.snapshots.list_table_states(conversation.turn_id, MAX_STATES)
    state = find_earlier_state(reversed(states), changes)
    if state is None:
        raise ToolRefused("The conversation has no earlier tables to go back to.")
    described = _describe_changes(tables, state)
    snapshot = tables.snapshot.with_names(state)
    summary = " ".join(str(change["text"]) for change in described)
    changes_as_json: list[JsonValue] = [*described]
    return CallResult({"changes": changes_as_json}, summary, [await save_snapshot(ctx, snapshot)])


def _describe_changes(tables: ConversationTables, state: State) -> list[dict[str, JsonValue]]:
    """Describe each table that is another one afterwards."""
    former = tables.snapshot.names
    changes: list[dict[str, JsonValue]] = []
    for name, entry in state.items():
        if former.get(name) != entry:
            text = f"{name} is as it was before: {describe_count(entry.rows, 'row')}."
            changes.append({"kind": "restored", "name": name, "rows": entry.rows, "text": text})
    datasets = {dataset.table for dataset in tables.datasets}
    for name in former.keys() - state.keys():
        text = f"{name} is the dataset again." if name in datasets else f"The table {name} is gone again."
        changes.append({"kind": "dropped", "name": name, "rows": None, "text": text})
    return changes
