"""The node that plans the session."""

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.planner.editing import plan_error
from app.agents.planner.output import Plan
from app.agents.planner.review import read_tables, review_plan
from app.agents.runtime.loop import AgentResult
from app.agents.state import Json, LabState, LabUpdate
from app.errors import InvalidInput
from app.sessions.events.events import PlanMade
from app.tools.invoke import ToolAnswer

NO_TARGET = "?"


async def planning(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    brief: Json = {"goal": state["goal"], "preferences": state.get("preferences", {})}
    result: AgentResult[Plan] = await lab.crew["planner"].run(lab.tool_context("planner"), brief, check)
    plan = apply_preferences(result.output, brief["preferences"])
    if brief["preferences"].get("review_plan"):
        plan = await _review_plan(lab, brief, plan, result)
    if plan.target == NO_TARGET:
        raise InvalidInput("not_understood" if plan.question else "nothing_to_predict", " ".join(plan.notes))
    lab.step.emit(PlanMade(steps=plan.steps, notes=plan.notes, facts=plan.problem_request()))
    return {"plan": plan.model_dump(mode="json")}


async def _review_plan(lab: LabContext, brief: Json, plan: Plan, result: AgentResult[Plan]) -> Plan:
    """Review the plan with the user. A request in words starts another run of the planner."""
    question_count = 0
    while plan.target != NO_TARGET:
        reviewed = await review_plan(lab, plan, result.answers, question_count)
        if reviewed.request is None:
            return reviewed.plan
        brief, question_count = (
            {**brief, "goal": f"{brief['goal']}\n{reviewed.request}"},
            reviewed.question_count,
        )
        result = await lab.crew["planner"].run(
            lab.tool_context("planner"), brief, check, first_turn=result.next_turn
        )
        plan = apply_preferences(result.output, brief["preferences"])
    return plan


def apply_preferences(plan: Plan, preferences: Mapping[str, Any]) -> Plan:
    """Apply the user's preferences, which take precedence over the planner's choices."""
    settings = {name: preferences[name] for name in ("costs", "model") if preferences.get(name)}
    return plan.model_copy(update=settings)


def check(plan: Plan, answers: Sequence[ToolAnswer]) -> str | None:
    """Return the plan's error with regard to the tables that were read; None if it has none."""
    return None if plan.target == NO_TARGET else plan_error(plan, read_tables(plan, answers))
