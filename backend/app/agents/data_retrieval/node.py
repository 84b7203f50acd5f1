"""The node that fetches the session's table."""

from collections.abc import Sequence

from langgraph.runtime import Runtime

from app.agents.answered_exclusions import find_exclusions
from app.agents.column_lineage import derived_columns, source_columns, unnamed_columns
from app.agents.context import LabContext
from app.agents.data_retrieval.brief import FETCHING_TOOLS, FetchedTable, RetrievalBrief
from app.agents.data_retrieval.output import Retrieved
from app.agents.planner.output import Plan
from app.agents.runtime.agent_loop import AgentRunOptions
from app.agents.state import JoinedTableJson, LabState, LabUpdate, RetrievedJson
from app.errors import InvalidInput
from app.modeling.facts.conversion import dump_facts, parse_facts
from app.tools.data.computed_facts import JoinDescriptions
from app.tools.data.frames import RETRIEVED
from app.tools.data.retrieval import relate_tables
from app.tools.invoke import ToolAnswer


async def data_retrieval(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    brief = RetrievalBrief(goal=state["goal"], plan=Plan.model_validate(state["plan"]))
    # A question is answered from the session's tables, and a table of persons is made by one SELECT: there is
    # nothing to decide about the table to fetch.
    is_by_rules = brief.plan.question is not None or brief.plan.persons is not None
    options = AgentRunOptions(is_by_rules=is_by_rules)
    ctx = lab.tool_context("data_retrieval")
    result = await lab.crew["data_retrieval"].run(ctx, dump_facts(brief), check, options=options)
    retrieved: Retrieved = result.output
    columns = _fetched_columns(result.answers)
    if columns is None:
        raise InvalidInput("no_data", f"No table could be fetched. {retrieved.note}".strip())
    plan = brief.plan
    # A computed target has a name of its own, which the SELECT of the retrieval gives it.
    is_computed = any((plan.derivation, plan.cut, plan.aggregation, plan.persons))
    has_own_target = not is_computed and plan.target in columns
    target = plan.target if has_own_target else retrieved.target
    exclude = _excluded_columns(plan, retrieved, columns, result.answers)
    facts: RetrievedJson = {
        "frame": RETRIEVED,
        "target": target,
        "exclude": [name for name in exclude if name != target],
        "note": retrieved.note,
        "sql": _fetching_sql(result.answers),
    }
    if joined := _joined_tables(result.answers, columns):
        facts["joined"] = joined
    return {"retrieved": facts}


def _joined_tables(answers: Sequence[ToolAnswer], columns: Sequence[str]) -> list[JoinedTableJson]:
    """Return the tables that the fetched table was joined from, with their columns in it."""
    related = [a for a in answers if a.refusal is None and a.request.name == relate_tables.__name__]
    if not related or _last_fetch(answers) is None:
        return []
    joins = parse_facts(JoinDescriptions, related[-1].value).joins
    tables: list[JoinedTableJson] = [
        {"table": join.table, "columns": [name for name in join.columns if name in columns]} for join in joins
    ]
    return [entry for entry in tables if entry["columns"]]


def _excluded_columns(
    plan: Plan, retrieved: Retrieved, columns: Sequence[str], answers: Sequence[ToolAnswer]
) -> list[str]:
    """Return the columns of the fetched table that the plan or retrieval leave out, under whatever name."""
    sql = _fetching_sql(answers)
    left_out = find_exclusions(answers, dict.fromkeys([*columns, *source_columns(sql)]), plan.target)
    forbidden = [name for name in (*plan.exclude, *left_out) if name != plan.target]
    computed = [*derived_columns(sql, forbidden), *unnamed_columns(columns, forbidden)] if sql else []
    derived = [name for name in computed if name not in (plan.time_column, plan.group_column)]
    names = {name.casefold() for name in (*forbidden, *derived)}
    return [name for name in columns if name in retrieved.exclude or name.casefold() in names]


def check(retrieved: Retrieved, answers: Sequence[ToolAnswer]) -> str | None:
    """Check that the target is a column of the table fetched last. Without a table the node itself fails."""
    columns = _fetched_columns(answers)
    if columns is None or retrieved.target in columns:
        return None
    return f"The fetched table has no column {retrieved.target!r}. It has: {', '.join(columns[:50])}."


def _fetched_columns(answers: Sequence[ToolAnswer]) -> list[str] | None:
    """Return the columns of the table fetched last; None if there is none."""
    fetch = _last_fetch(answers)
    return [column.name for column in parse_facts(FetchedTable, fetch.value).columns] if fetch else None


def _fetching_sql(answers: Sequence[ToolAnswer]) -> str:
    """Return the SELECT that fetched the session's table; empty if another tool did."""
    fetch = _last_fetch(answers)
    return str(fetch.request.arguments.get("sql", "")) if fetch else ""


def _last_fetch(answers: Sequence[ToolAnswer]) -> ToolAnswer | None:
    """Return the call that fetched the session's table."""
    fetches = [a for a in answers if a.refusal is None and a.request.name in FETCHING_TOOLS]
    return next((a for a in reversed(fetches) if parse_facts(FetchedTable, a.value).frame == RETRIEVED), None)
