"""The model evaluator's nodes: evaluate the candidates, and fit more of them while there is time."""

from collections.abc import Sequence
from dataclasses import replace

from langgraph.runtime import Runtime

from app.agents.answered_exclusions import withdraw_columns
from app.agents.context import LabContext
from app.agents.fit_summaries import ensemble_weights, merge_fits, read_rounds
from app.agents.model_evaluator.brief import BlendedModel, EvaluationBrief, EvaluatorBrief, TuningBrief
from app.agents.model_evaluator.output import Verdict
from app.agents.session_notes import collect_notes
from app.agents.state import LabState, LabUpdate, SessionState, read_state
from app.agents.time_budget import MAX_ROUNDS, make_budget
from app.agents.training_context import make_problem_brief, make_training_context
from app.modeling.facts.conversion import dump_facts, parse_facts
from app.modeling.problem.kinds import ENSEMBLE
from app.modeling.problem.name_resolution import nearest_names
from app.tools.invoke import ToolAnswer

MAX_RETURNS = 3
"""Times that the evaluation may send the work back: each costs a round of fits and two agents' thinking."""
DEFAULT_EVALUATION_S = 0.8
"""Seconds of an evaluation, until the first one has been measured."""
FITTING_TOOLS = ("add_folds", "tune_hyperparameters")


async def model_evaluation(lab_state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab, state = runtime.context, read_state(lab_state)
    budget = make_budget(state)
    is_tuning_planned = "hyperparameter_tuning" in state.plan.stages
    can_tune = (
        is_tuning_planned and state.completed_rounds < budget.max_rounds and not await lab.step.is_wrapping_up()
    )
    may_return = can_tune and state.return_count < MAX_RETURNS
    may_return = may_return and not lab.crew["model_evaluation"].is_offline
    evaluation_s = state.node_seconds.get("model_evaluation", DEFAULT_EVALUATION_S)
    brief = EvaluationBrief(
        **vars(_make_evaluator_brief(state, evaluation_s)), left_out=state.left_out, can_tune=can_tune
    )
    brief = replace(brief, can_return=may_return)

    def check(verdict: Verdict, answers: Sequence[ToolAnswer]) -> str | None:
        blended = [model.name for answer in answers if (model := _blended_model(answer))]
        valid_names = [*(fit.name for fit in state.fits), *blended, *([ENSEMBLE] if state.blended else [])]
        if verdict.chosen in valid_names:
            return None
        close = ", ".join(nearest_names(verdict.chosen, valid_names)) or ", ".join(valid_names)
        return f"No candidate is called {verdict.chosen!r}. Choose one of: {close}."

    ctx = lab.tool_context("model_evaluator", make_training_context(state, budget.fits_deadline_s))
    result = await lab.crew["model_evaluation"].run(ctx, dump_facts(brief), check)
    verdict: Verdict = result.output
    back_to = verdict.back_to if may_return and verdict.back_to in state.plan.stages else None
    blends = [
        ensemble_weights(answer.request.arguments["models"], model.weights)
        for answer in result.answers
        if (model := _blended_model(answer)) and model.name == ENSEMBLE
    ]
    return {
        "verdict": {
            **verdict.model_dump(mode="json"),
            # A chat model may ask for a round that neither plan nor time allow.
            "tune": verdict.tune and can_tune,
            "back_to": back_to,
        },
        "returns": state.return_count + bool(back_to),
        **collect_notes(lab_state, lab.crew["model_evaluation"], [verdict.reason]),
        "weights": blends[0] if blends else dict(state.weights),
        "blended": bool(blends) or state.blended,
        **withdraw_columns(lab, "model_evaluator", state, result.answers),
    }


async def hyperparameter_tuning(lab_state: LabState, runtime: Runtime[LabContext]) -> LabUpdate:
    lab = runtime.context
    state = replace(read_state(lab_state), fit_slots=await lab.current_fit_slots())
    brief = TuningBrief(**vars(_make_evaluator_brief(state)), candidate=state.candidate)
    ctx = lab.tool_context("model_evaluator", make_training_context(state, make_budget(state).fits_deadline_s))
    result = await lab.crew["hyperparameter_tuning"].run(ctx, dump_facts(brief))
    values = result.values(*FITTING_TOOLS)
    rounds = read_rounds(values)
    return {
        "fits": [fit.to_json() for fit in merge_fits(state.fits, rounds.fits)],
        "left_out": [entry.to_json() for entry in (*state.left_out, *rounds.left_out)],
        "hands": state.fit_slots,
        # A round that fitted nothing is the last: the next one would choose the same fits.
        "rounds": state.completed_rounds + 1 if values else MAX_ROUNDS,
        "blended": state.blended and not values,
        **withdraw_columns(lab, "model_evaluator", state, result.answers),
        **collect_notes(lab_state, lab.crew["hyperparameter_tuning"], result.output.notes),
    }


def _make_evaluator_brief(state: SessionState, reserved_s: float = 0.0) -> EvaluatorBrief:
    """Make the brief of both stages. `reserved_s`: seconds subtracted from the time left for fits."""
    budget = make_budget(state)
    return EvaluatorBrief(
        **vars(make_problem_brief(state)),
        fits=state.fits,
        weights=state.weights,
        blended=state.blended,
        folds=state.split.folds,
        time_left_s=None if budget.deterministic else round(budget.fit_time_s - reserved_s, 2),
        worked_s=round(budget.worked_s, 1),
        fit_slots=state.fit_slots,
        completed_rounds=state.completed_rounds,
    )


def _blended_model(answer: ToolAnswer) -> BlendedModel | None:
    """Return the model that `build_ensemble` made; None for any other or refused call."""
    if answer.request.name != "build_ensemble" or answer.refusal is not None:
        return None
    return parse_facts(BlendedModel, answer.value)
