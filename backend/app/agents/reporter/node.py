"""The node that writes the reports from recorded results."""

from dataclasses import replace

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.reporter.brief import ModelReportBrief, QuestionReportBrief, ReportBrief
from app.agents.reporter.output import Reported
from app.agents.runtime.agent_loop import AgentRunOptions
from app.agents.state import LabState, LabUpdate, SessionState, read_state
from app.agents.training_context import make_problem_brief, make_training_context
from app.modeling.facts.conversion import dump_facts
from app.tools.invoke import ToolRequest, invoke
from app.tools.registry import REGISTRY
from app.tools.reporting import generate_summary, session_result

SUMMARY = generate_summary.__name__


async def reporting(lab_state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    """Let the reporter write its documents. A missing summary is added, so no session ends without a report."""
    lab, state = runtime.context, read_state(lab_state)
    brief = _make_brief(state)
    ctx = lab.tool_context("reporter", None if state.answer else make_training_context(state))
    if state.plan.understanding:
        ctx = replace(ctx, understanding=state.plan.understanding)
    ctx = replace(ctx, notes=[{"agent": note.agent, "text": note.text} for note in state.notes])
    # The answer to a question has its words already, from whoever computed it.
    options = AgentRunOptions(is_by_rules=state.answer is not None)
    result = await lab.crew["reporter"].run(ctx, dump_facts(brief), options=options)
    reported: Reported = result.output
    if not result.values(SUMMARY):
        await invoke({SUMMARY: REGISTRY[SUMMARY]}, ctx, ToolRequest("tool:report.0", SUMMARY, {}))
    return {"report": reported.model_dump(mode="json"), "result": await session_result(ctx)}


def _make_brief(state: SessionState) -> ReportBrief:
    if state.answer is not None:
        return QuestionReportBrief(
            goal=state.goal, question=state.plan.question or state.goal, answer=state.answer
        )
    common, final = make_problem_brief(state), state.final
    if final is None or state.verdict is None:
        return ModelReportBrief(**vars(common), candidate=None, cautions=(), final=None)
    return ModelReportBrief(
        **vars(common), candidate=state.verdict.candidate, cautions=state.verdict.cautions, final=final
    )
