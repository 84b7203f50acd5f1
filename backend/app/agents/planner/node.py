"""The node that plans the session."""

from collections.abc import Sequence

from langgraph.runtime import Runtime

from app.agents.answered_exclusions import read_replies
from app.agents.context import LabContext
from app.agents.planner.output import Plan
from app.agents.planner.plan_editing import plan_error
from app.agents.planner.plan_review import read_tables, review_plan
from app.agents.planner.preferences import PlannerBrief
from app.agents.planner.user_requirements import UserRequirements, read_profiles
from app.agents.runtime.agent_loop import AgentResult, AgentRunOptions
from app.agents.state import Json, LabState, LabUpdate
from app.agents.table_briefs import read_known_tables, summarize_schemas
from app.errors import InvalidInput
from app.sessions.events.events import GoalUnderstood, PlanMade
from app.tools.invoke import ToolAnswer

NO_TARGET = "?"


async def planning(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    brief: Json = {"goal": state["goal"], "preferences": state.get("preferences", {})}
    planner_brief = PlannerBrief.model_validate(brief)
    agent = lab.crew["planner"]
    # Schemas in the brief save a chat model turns; the offline policy reads them by its own calls.
    tables = () if agent.is_offline else await read_known_tables(lab)
    options = AgentRunOptions(known_answers=tables)
    if tables:
        brief["tables"] = summarize_schemas(tables)
    result: AgentResult[Plan] = await agent.run(lab.tool_context("planner"), brief, check, options=options)
    plan = _apply_requirements(planner_brief, result, read_replies(result.answers))
    if planner_brief.preferences.review_plan:
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
    goal, replies = planner_brief.goal, read_replies(result.answers)
    while plan.target != NO_TARGET:
        reviewed = await review_plan(lab, plan, result.answers, question_count)
        if reviewed.request is None:
            requirements = UserRequirements(planner_brief.preferences, planner_brief.goal, replies)
            return requirements.keep_exclusions(reviewed.plan, read_profiles(reviewed.plan, result.answers))
        goal, question_count = f"{goal}\n{reviewed.request}", reviewed.question_count
        ctx = lab.tool_context("planner")
        result = await lab.crew["planner"].run(
            ctx,
            {**brief, "goal": goal},
            check,
            # Turns count on: keys of the journal must not repeat within the step.
            result.next_turn,
            AgentRunOptions(known_answers=_read_answers(result.answers)),
        )
        replies += [reviewed.request, *read_replies(result.answers)]
        plan = _apply_requirements(planner_brief, result, replies)
    return plan


def _read_answers(answers: Sequence[ToolAnswer]) -> tuple[ToolAnswer, ...]:
    """Return the answers of the brief, which a further run of the planner is given again."""
    return tuple(answer for answer in answers if answer.request.key.startswith("brief:"))


def _apply_requirements(brief: PlannerBrief, result: AgentResult[Plan], replies: Sequence[str]) -> Plan:
    """Return the planner's plan with everything that the user requires."""
    plan = result.output
    if plan.target == NO_TARGET:
        return plan
    requirements = UserRequirements(brief.preferences, brief.goal, replies)
    return requirements.apply(plan, read_profiles(plan, result.answers))


def check(plan: Plan, answers: Sequence[ToolAnswer]) -> str | None:
    """Return the plan's error with regard to the tables that were read; None if it has none."""
    return None if plan.target == NO_TARGET else plan_error(plan, read_tables(plan, answers))
