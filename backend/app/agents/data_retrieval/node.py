"""The node that fetches the session's table."""

from collections.abc import Sequence

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.data_retrieval.brief import FETCHING_TOOLS, FetchedTable, RetrievalBrief
from app.agents.data_retrieval.output import Retrieved
from app.agents.planner.output import Plan
from app.agents.state import LabState, LabUpdate
from app.errors import InvalidInput
from app.modeling.facts.conversion import dump_facts, parse_facts
from app.tools.frames import RETRIEVED
from app.tools.invoke import ToolAnswer


async def data_retrieval(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    brief = RetrievalBrief(goal=state["goal"], plan=Plan.model_validate(state["plan"]))
    result = await lab.crew["data_retrieval"].run(lab.tool_context("data_retrieval"), dump_facts(brief), check)
    retrieved: Retrieved = result.output
    columns = _fetched_columns(result.answers)
    if columns is None:
        raise InvalidInput("no_data", f"No table could be fetched. {retrieved.note}".strip())
    exclude = [name for name in retrieved.exclude if name in columns]
    return {
        "retrieved": {
            "frame": RETRIEVED,
            "target": retrieved.target,
            "exclude": exclude,
            "note": retrieved.note,
        }
    }


def check(retrieved: Retrieved, answers: Sequence[ToolAnswer]) -> str | None:
    """Check that the target is a column of the table fetched last. Without a table the node itself fails."""
    columns = _fetched_columns(answers)
    if columns is None or retrieved.target in columns:
        return None
    return f"The fetched table has no column {retrieved.target!r}. It has: {', '.join(columns[:50])}."


def _fetched_columns(answers: Sequence[ToolAnswer]) -> list[str] | None:
    """Return the columns of the table fetched last; None if there is none."""
    for answer in reversed(answers):
        if answer.refusal is None and answer.request.name in FETCHING_TOOLS:
            table = parse_facts(FetchedTable, answer.value)
            if table.frame == RETRIEVED:
                return [column.name for column in table.columns]
    return None
