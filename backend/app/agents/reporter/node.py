"""The reporting node: what was found, written down from what was recorded."""

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.reporter.output import Reported
from app.agents.state import LabState, LabUpdate
from app.agents.study import problem_brief, study_of
from app.tools.invoke import ToolRequest, invoke
from app.tools.registry import REGISTRY
from app.tools.reporting import generate_summary, session_result

SUMMARY = generate_summary.__name__


async def reporting(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    """A session never ends without its report: what the agent did not write is written after it."""
    lab = runtime.context
    final = state["final"]
    brief = {
        **problem_brief(state),
        "chosen": state["verdict"]["chosen"],
        "cautions": state["verdict"]["cautions"],
        "final": {key: final[key] for key in ("metric", "metrics", "beats_baseline", "notes")},
    }
    ctx = lab.tools("reporter", study_of(state))
    thought = await lab.crew["reporter"].run(ctx, brief)
    reported: Reported = thought.output
    if not thought.values(SUMMARY):
        await invoke({SUMMARY: REGISTRY[SUMMARY]}, ctx, ToolRequest("tool:report.0", SUMMARY, {}))
    return {"report": reported.model_dump(mode="json"), "result": await session_result(ctx)}
