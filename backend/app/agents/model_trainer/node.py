"""The training node: the first round of candidates."""

from langgraph.runtime import Runtime

from app.agents.budget import budget_of
from app.agents.context import LabContext
from app.agents.fits import merged, short
from app.agents.size import size_of
from app.agents.state import LabState, LabUpdate
from app.agents.training_context import problem_brief, study_of
from app.errors import InvalidInput
from app.modeling.problem.family_catalog import REGRESSION, has_long_tail

TRAINING = ("train_classification_model", "train_regression_model", "cross_validate_model")


async def model_training(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    budget = budget_of(state)
    hands = await lab.hands_now()
    time_left_s = round(budget.for_first_round_s(size_of(state), hands), 2)
    brief = {
        **problem_brief(state),
        "frame": state["frame"],
        "column_count": size_of(state).columns,
        "folds": state["split"]["folds"],
        "time_left_s": time_left_s,
        "hands": hands,
        "long_tail": state["problem"]["kind"] == REGRESSION and has_long_tail(state["split"]["target_summary"]),
    }
    study = study_of({**state, "hands": hands}, until_s=budget.worked_s + time_left_s)
    thought = await lab.crew["model_trainer"].run(lab.tools("model_trainer", study), brief)
    rounds = thought.values(*TRAINING)
    fits = merged([], short(fit for answer in rounds for fit in answer["fits"]))
    if not fits and not await lab.step.wrapping_up():
        raise InvalidInput(
            "nothing_fitted", "Not one candidate could be fitted. " + " ".join(thought.output.notes)
        )
    left_out = [entry for answer in rounds for entry in answer["left_out"]]
    return {"fits": fits, "left_out": left_out, "hands": hands}
