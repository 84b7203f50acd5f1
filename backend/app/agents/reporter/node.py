"""The node that writes the reports from recorded results."""

from typing import Any

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.reporter.output import Reported
from app.agents.state import LabState, LabUpdate
from app.agents.training_context import make_problem_brief, make_training_context
from app.tools.invoke import ToolRequest, invoke
from app.tools.registry import REGISTRY
from app.tools.reporting import generate_summary, session_result

SUMMARY = generate_summary.__name__


async def reporting(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    """Let the reporter write its documents. A missing summary is added, so no session ends without a report."""
    lab = runtime.context
    is_question = "answer" in state
    brief = _question_facts(state) if is_question else {**make_problem_brief(state), **_model_facts(state)}
    ctx = lab.tool_context("reporter", None if is_question else make_training_context(state))
    result = await lab.crew["reporter"].run(ctx, brief)
    reported: Reported = result.output
    if not result.values(SUMMARY):
        await invoke({SUMMARY: REGISTRY[SUMMARY]}, ctx, ToolRequest("tool:report.0", SUMMARY, {}))
    return {"report": reported.model_dump(mode="json"), "result": await session_result(ctx)}


def _question_facts(state: LabState) -> dict[str, Any]:
    """Make the facts of a question about the data and of its answer."""
    return {"goal": state["goal"], "question": state["plan"]["question"], "answer": state["answer"]}


def _model_facts(state: LabState) -> dict[str, Any]:
    """Make the facts of the chosen model; `final` is None if the session ended before it had one."""
    if "final" not in state:
        return {"chosen": None, "cautions": [], "final": None}
    verdict, final = state["verdict"], state["final"]
    return {
        "chosen": verdict["chosen"],
        "cautions": verdict["cautions"],
        "final": {
            **{key: final[key] for key in ("metric", "metrics", "beats_baseline", "notes")},
            "traded": final.get("traded"),
        },
    }
