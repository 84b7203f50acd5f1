"""The training node: the first round of candidates."""

from dataclasses import replace

from langgraph.runtime import Runtime

from app.agents.answered_exclusions import withdraw_columns
from app.agents.context import LabContext
from app.agents.fit_summaries import merge_fits, read_rounds
from app.agents.frame_size import measure_frame
from app.agents.model_trainer.brief import TrainerBrief
from app.agents.runtime.agent_loop import AgentRunOptions
from app.agents.session_notes import collect_notes
from app.agents.state import LabState, LabUpdate, read_state
from app.agents.time_budget import make_budget
from app.agents.training_context import make_problem_brief, make_training_context
from app.errors import InvalidInput
from app.modeling.facts.conversion import dump_facts
from app.modeling.problem.family_catalog import has_long_tail
from app.modeling.problem.kinds import ProblemKind

TRAINING_TOOLS = ("train_classification_model", "train_regression_model", "cross_validate_model")


async def model_training(lab_state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    fit_slots = await lab.current_fit_slots()
    state = replace(read_state(lab_state), fit_slots=fit_slots)
    budget, size = make_budget(state), measure_frame(state)
    time_left_s = round(budget.first_round_s(size, fit_slots), 2)
    brief = TrainerBrief(
        **vars(make_problem_brief(state)),
        frame=state.frame,
        column_count=size.columns,
        folds=state.split.folds,
        fits=state.fits,
        time_left_s=time_left_s,
        fit_slots=fit_slots,
        slowness=size.slowness,
        # A forecast learns changes, which have falls as well: their logarithm could not tell them.
        has_long_tail=state.problem.kind is ProblemKind.REGRESSION
        and not state.problem.horizon
        and has_long_tail(state.split.target_summary),
    )
    training = make_training_context(state, deadline_s=budget.worked_s + time_left_s)
    # The tool of the other kind of problem could only refuse.
    other_tools = [name for name in TRAINING_TOOLS[:2] if name != f"train_{state.problem.kind.value}_model"]
    result = await lab.crew["model_trainer"].run(
        lab.tool_context("model_trainer", training),
        dump_facts(brief),
        options=AgentRunOptions(withheld_tools=other_tools),
    )
    rounds = read_rounds(result.values(*TRAINING_TOOLS))
    fits = merge_fits(state.fits, rounds.fits)
    # A session whose budget is used up still ends with a report, though without a model.
    if not fits and not await lab.step.is_wrapping_up():
        raise InvalidInput("nothing_fitted", "No candidate could be fitted. " + " ".join(result.output.notes))
    return {
        "fits": [fit.to_json() for fit in fits],
        "left_out": [entry.to_json() for entry in (*state.left_out, *rounds.left_out)],
        "hands": fit_slots,
        "blended": False,
        **withdraw_columns(lab, "model_trainer", state, result.answers),
        **collect_notes(lab_state, lab.crew["model_trainer"], result.output.notes),
    }
