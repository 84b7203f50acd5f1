"""The training node: the first round of candidates."""

from langgraph.runtime import Runtime

from app.agents.budget import budget_of
from app.agents.context import LabContext
from app.agents.fits import merged, short
from app.agents.state import LabState, LabUpdate
from app.agents.study import problem_brief, study_of
from app.errors import InvalidInput

TRAINING = ("train_classification_model", "train_regression_model", "cross_validate_model")


async def model_training(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    time_left_s = round(budget_of(state).for_training_s, 1)
    brief = {**problem_brief(state), "frame": state["frame"], "time_left_s": time_left_s}
    thought = await lab.crew["model_trainer"].run(
        lab.tools("model_trainer", study_of(state, time_left_s)), brief
    )
    rounds = thought.values(*TRAINING)
    fits = merged([], short(fit for answer in rounds for fit in answer["fits"]))
    if not fits:
        raise InvalidInput(
            "nothing_fitted", "Not one candidate could be fitted. " + " ".join(thought.output.notes)
        )
    return {"fits": fits, "left_out": [entry for answer in rounds for entry in answer["left_out"]]}
