"""The node that plans the session."""

from collections.abc import Sequence

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.planner.output import Plan
from app.agents.planner.plan_editing import plan_error
from app.agents.planner.plan_review import read_tables, review_plan
from app.agents.planner.preferences import PlannerBrief, PlanPreferences
from app.agents.runtime.agent_loop import AgentResult
from app.agents.state import Json, LabState, LabUpdate
from app.errors import InvalidInput
from app.sessions.events.events import GoalUnderstood, PlanMade
from app.tools.invoke import ToolAnswer

NO_TARGET = "?"


async def planning(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    brief: Json = {"goal": state["goal"], "preferences": state.get("preferences", {})}
    preferences = PlannerBrief.model_validate(brief).preferences
    result: AgentResult[Plan] = await lab.crew["planner"].run(lab.tool_context("planner"), brief, check)
    plan = apply_preferences(result.output, preferences)
    if preferences.review_plan:
        plan = await _review_plan(lab, brief, plan, result)
    if plan.target == NO_TARGET:
        is_unreadable = plan.question is not None or not plan.is_understood
        raise InvalidInput("not_understood" if is_unreadable else "nothing_to_predict", " ".join(plan.notes))
    if understanding := plan.understanding:
        lab.step.emit(
            GoalUnderstood(
                text=understanding.text,
                target=None if plan.question else plan.target,
                tables=plan.tables,
                examples=understanding.examples,
                confidence=understanding.confidence,
                alternatives=understanding.alternatives,
            )
        )
    lab.step.emit(PlanMade(steps=plan.steps, notes=plan.notes, facts=plan.problem_request()))
    return {"plan": plan.model_dump(mode="json")}


async def _review_plan(lab: LabContext, brief: Json, plan: Plan, result: AgentResult[Plan]) -> Plan:
    """Review the plan with the user. A request in words is added to the goal and starts another run."""
    planner_brief, question_count = PlannerBrief.model_validate(brief), 0
    goal = planner_brief.goal
    while plan.target != NO_TARGET:
        reviewed = await review_plan(lab, plan, result.answers, question_count)
        if reviewed.request is None:
            return reviewed.plan
        goal, question_count = f"{goal}\n{reviewed.request}", reviewed.question_count
        ctx = lab.tool_context("planner")
        result = await lab.crew["planner"].run(ctx, {**brief, "goal": goal}, check, first_turn=result.next_turn)
        plan = apply_preferences(result.output, planner_brief.preferences)
    return plan


def apply_preferences(plan: Plan, preferences: PlanPreferences) -> Plan:
    """Apply the user's preferences, which take precedence over the planner's choices."""
    return plan.model_copy(
        update={"costs": preferences.costs or plan.costs, "model": preferences.model or plan.model}
    )


def check(plan: Plan, answers: Sequence[ToolAnswer]) -> str | None:
    """Return the plan's error with regard to the tables that were read; None if it has none."""
    return None if plan.target == NO_TARGET else plan_error(plan, read_tables(plan, answers))
