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
from app.sessions.scope import Question
from app.tools.invoke import ToolAnswer

NO_TARGET = "?"
GO_ON = "go on"
MOST_REVIEWS = 3


async def planning(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    brief: Json = {"goal": state["goal"], "preferences": state.get("preferences", {})}
    agent, ctx = lab.crew["planner"], lab.tools("planner")
    thought = await agent.run(ctx, brief, check)
    for round_ in range(MOST_REVIEWS if state["preferences"].get("review_plan") else 0):
        change = await _review(lab, thought.output, round_)
        if change is None:
            break
        brief = {**brief, "goal": f"{brief['goal']}\n{change}"}
        thought = await agent.run(ctx, brief, check, first=thought.turns)
    plan: Plan = thought.output
    if plan.target == NO_TARGET:
        raise InvalidInput("nothing_to_predict", " ".join(plan.notes))
    lab.step.tell(PlanMade(steps=plan.steps, notes=plan.notes, facts=plan.wish()))
    return {"plan": plan.model_dump(mode="json")}


async def _review(lab: LabContext, plan: Plan, round_: int) -> str | None:
    """What the user wants changed, or None to go on."""
    lines = "\n".join(f"{place}. {line}" for place, line in enumerate(plan.steps, start=1))
    answer = await lab.step.ask(
        Question(
            key=f"review:{round_}",
            agent="planner",
            kind="approval",
            text=f"Shall I go on like this? Or say what to change.\n{lines}",
            answer_schema={"type": "string", "minLength": 1, "maxLength": 4000},
            options=[GO_ON],
            default=GO_ON,
        )
    )
    return None if answer == GO_ON else str(answer)


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
