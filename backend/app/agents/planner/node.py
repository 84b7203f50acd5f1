"""The planning node: from the goal to a plan that the data can bear."""

from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.planner.output import Plan
from app.agents.planner.plan import PRICES
from app.agents.state import Json, LabState, LabUpdate
from app.errors import InvalidInput
from app.modeling.nearest import nearest
from app.sessions.events import PlanMade
from app.tools.invoke import ToolAnswer

NO_TARGET = "?"


async def planning(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    brief: Json = {"goal": state["goal"], "preferences": state.get("preferences", {})}
    thought = await lab.crew["planner"].run(lab.tools("planner"), brief, check)
    plan: Plan = thought.output
    if plan.target == NO_TARGET:
        raise InvalidInput("nothing_to_predict", " ".join(plan.notes))
    lab.step.tell(PlanMade(steps=plan.steps, facts=plan.wish()))
    return {"plan": plan.model_dump(mode="json")}


def check(plan: Plan, answers: Sequence[ToolAnswer]) -> str | None:
    """What a plan gets wrong about the tables that were read; None when it can be carried out."""
    if plan.target == NO_TARGET:
        return None
    if plan.source == "prices":
        return _unknown(plan, [column.name for column in PRICES.columns])
    read: list[Any] = [
        answer.value
        for answer in answers
        if answer.request.name == "get_dataset_schema" and answer.refusal is None
    ]
    schemas = {schema["table"]: schema for schema in read}
    unread = [table for table in plan.tables if table not in schemas]
    if unread or not plan.tables:
        return f"Name at least one table whose schema you have read; not read: {', '.join(unread) or 'any'}."
    return _unknown(plan, [column["name"] for table in plan.tables for column in schemas[table]["columns"]])


def _unknown(plan: Plan, known: Sequence[str]) -> str | None:
    named = [plan.target, plan.time_column, plan.group_column, *plan.exclude]
    unknown = [name for name in named if name and name not in known]
    hints = [f"{name!r} (nearest: {', '.join(nearest(name, known)) or 'none'})" for name in unknown]
    return f"The plan names columns that the tables do not have: {'; '.join(hints)}." if hints else None
