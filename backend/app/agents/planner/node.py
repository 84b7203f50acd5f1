"""The planning node: from the goal to a plan that the data can bear."""

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.planner.editing import impossible
from app.agents.planner.output import Plan
from app.agents.planner.review import review, tables_of
from app.agents.runtime.loop import AgentResult
from app.agents.state import Json, LabState, LabUpdate
from app.errors import InvalidInput
from app.sessions.events.events import PlanMade
from app.tools.invoke import ToolAnswer

NO_TARGET = "?"


async def planning(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    brief: Json = {"goal": state["goal"], "preferences": state.get("preferences", {})}
    thought: AgentResult[Plan] = await lab.crew["planner"].run(lab.tool_context("planner"), brief, check)
    plan = preferred(thought.output, brief["preferences"])
    if brief["preferences"].get("review_plan"):
        plan = await _reviewed(lab, brief, plan, thought)
    if plan.target == NO_TARGET:
        raise InvalidInput("not_understood" if plan.question else "nothing_to_predict", " ".join(plan.notes))
    lab.step.tell(PlanMade(steps=plan.steps, notes=plan.notes, facts=plan.wish()))
    return {"plan": plan.model_dump(mode="json")}


async def _reviewed(lab: LabContext, brief: Json, plan: Plan, thought: AgentResult[Plan]) -> Plan:
    """The plan as its user wants it; what they say in words the planner thinks about anew."""
    asked = 0
    while plan.target != NO_TARGET:
        reviewed = await review(lab, plan, thought.answers, asked)
        if reviewed.words is None:
            return reviewed.plan
        brief, asked = {**brief, "goal": f"{brief['goal']}\n{reviewed.words}"}, reviewed.asked
        thought = await lab.crew["planner"].run(
            lab.tool_context("planner"), brief, check, first_turn=thought.next_turn
        )
        plan = preferred(thought.output, brief["preferences"])
    return plan


def preferred(plan: Plan, preferences: Mapping[str, Any]) -> Plan:
    """What the user settled beforehand no planner changes."""
    wished = {name: preferences[name] for name in ("costs", "model") if preferences.get(name)}
    return plan.model_copy(update=wished)


def check(plan: Plan, answers: Sequence[ToolAnswer]) -> str | None:
    """What a plan gets wrong about the tables that were read; None when it can be carried out."""
    return None if plan.target == NO_TARGET else impossible(plan, tables_of(plan, answers))
