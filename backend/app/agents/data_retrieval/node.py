"""The node that fetches the session's table."""

from collections.abc import Sequence

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.data_retrieval.output import Retrieved
from app.agents.state import Json, LabState, LabUpdate
from app.errors import InvalidInput
from app.tools.frames import RETRIEVED
from app.tools.invoke import ToolAnswer


async def data_retrieval(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    brief: Json = {"goal": state["goal"], "plan": state["plan"]}
    result = await lab.crew["data_retrieval"].run(lab.tool_context("data_retrieval"), brief, check)
    retrieved: Retrieved = result.output
    columns = _fetched_columns(result.answers)
    if columns is None:
        raise InvalidInput("no_data", f"No table could be fetched. {retrieved.note}".strip())
    exclude = [name for name in retrieved.exclude if name in columns]
    return {"retrieved": {"frame": RETRIEVED, **retrieved.model_dump(mode="json"), "exclude": exclude}}


def check(retrieved: Retrieved, answers: Sequence[ToolAnswer]) -> str | None:
    """Check that the target is a column of the table fetched last. Without a table the node itself fails."""
    columns = _fetched_columns(answers)
    if columns is None or retrieved.target in columns:
        return None
    return f"The fetched table has no column {retrieved.target!r}. It has: {', '.join(columns[:50])}."


def _fetched_columns(answers: Sequence[ToolAnswer]) -> list[str] | None:
    """Return the columns of the table fetched last; None if there is none."""
    for answer in reversed(answers):
        value = answer.value
        if isinstance(value, dict) and value.get("frame") == RETRIEVED and isinstance(value["columns"], list):
            return [str(column["name"]) for column in value["columns"] if isinstance(column, dict)]
    return None
