"""The reporting node: what was found, written down from what was recorded."""

from typing import Any

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.reporter.output import Reported
from app.agents.state import LabState, LabUpdate
from app.agents.training_context import problem_brief, study_of
from app.tools.invoke import ToolRequest, invoke
from app.tools.registry import REGISTRY
from app.tools.reporting import generate_summary, session_result

SUMMARY = generate_summary.__name__


async def reporting(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    """A session never ends without its report: what the agent did not write is written after it."""
    lab = runtime.context
    asks = "answer" in state
    brief = _asked(state) if asks else {**problem_brief(state), **_judged(state)}
    ctx = lab.tools("reporter", None if asks else study_of(state))
    thought = await lab.crew["reporter"].run(ctx, brief)
    reported: Reported = thought.output
    if not thought.values(SUMMARY):
        await invoke({SUMMARY: REGISTRY[SUMMARY]}, ctx, ToolRequest("tool:report.0", SUMMARY, {}))
    return {"report": reported.model_dump(mode="json"), "result": await session_result(ctx)}


def _asked(state: LabState) -> dict[str, Any]:
    """A question about the data, and whether it was answered."""
    return {"goal": state["goal"], "question": state["plan"]["question"], "answer": state["answer"]}


def _judged(state: LabState) -> dict[str, Any]:
    """What came of the model; `final` is None in a session that ended before it had one."""
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
