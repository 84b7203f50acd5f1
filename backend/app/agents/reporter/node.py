"""The reporting node: what was found, written down from what was recorded."""

from langgraph.runtime import Runtime

from app.agents.context import LabContext
from app.agents.reporter.output import Reported
from app.agents.state import LabState, LabUpdate
from app.agents.study import problem_brief, study_of


async def reporting(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    final = state["final"]
    brief = {
        **problem_brief(state),
        "chosen": state["verdict"]["chosen"],
        "cautions": state["verdict"]["cautions"],
        "final": {key: final[key] for key in ("metric", "metrics", "beats_baseline", "notes")},
    }
    thought = await lab.crew["reporter"].run(lab.tools("reporter", study_of(state)), brief)
    reported: Reported = thought.output
    return {"report": reported.model_dump(mode="json")}
