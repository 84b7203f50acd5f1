"""The training node: the first round of candidates."""

from langgraph.runtime import Runtime

from app.agents.budget import make_budget
from app.agents.context import LabContext
from app.agents.fits import merge_fits, summarise_fits
from app.agents.size import measure_frame
from app.agents.state import LabState, LabUpdate
from app.agents.training_context import make_problem_brief, make_training_context
from app.errors import InvalidInput
from app.modeling.problem.family_catalog import REGRESSION, has_long_tail

TRAINING_TOOLS = ("train_classification_model", "train_regression_model", "cross_validate_model")


async def model_training(state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    budget = make_budget(state)
    fit_slots = await lab.current_fit_slots()
    time_left_s = round(budget.first_round_s(measure_frame(state), fit_slots), 2)
    brief = {
        **make_problem_brief(state),
        "frame": state["frame"],
        "column_count": measure_frame(state).columns,
        "folds": state["split"]["folds"],
        "time_left_s": time_left_s,
        "hands": fit_slots,
        "long_tail": state["problem"]["kind"] == REGRESSION and has_long_tail(state["split"]["target_summary"]),
    }
    training = make_training_context({**state, "hands": fit_slots}, deadline_s=budget.worked_s + time_left_s)
    result = await lab.crew["model_trainer"].run(lab.tool_context("model_trainer", training), brief)
    rounds = result.values(*TRAINING_TOOLS)
    fits = merge_fits([], summarise_fits(fit for answer in rounds for fit in answer["fits"]))
    if not fits and not await lab.step.is_wrapping_up():
        raise InvalidInput("nothing_fitted", "No candidate could be fitted. " + " ".join(result.output.notes))
    left_out = [entry for answer in rounds for entry in answer["left_out"]]
    return {"fits": fits, "left_out": left_out, "hands": fit_slots}
