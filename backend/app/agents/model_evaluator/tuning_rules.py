"""Rules of the stage `tuning`: one more round of fits."""

from app.agents.fit_summaries import RoundFacts
from app.agents.model_evaluator.brief import TuningBrief
from app.agents.model_evaluator.evaluation_rules import make_tuning_state
from app.agents.model_evaluator.next_fits import FoldRequest, next_round
from app.agents.model_evaluator.output import Tuned
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.offline_policy import AgentAction, Rule, call, finish

FITTING_TOOLS = ("add_folds", "tune_hyperparameters")


def fit_more(view: ConversationView[TuningBrief]) -> AgentAction | None:
    if view.was_called(*FITTING_TOOLS):
        return None
    request = next_round(make_tuning_state(view.brief, view.brief.weights))
    if request is None:
        return None
    models = " and ".join(request.models)
    if isinstance(request, FoldRequest):
        rows = "further folds" if request.folds else "all rows, including the latest,"
        message = f"I fit {rows} of {models}."
        return call("add_folds", message=message, models=request.models, folds=request.folds)
    message = f"I try variants of {models}."
    return call(
        "tune_hyperparameters", message=message, models=request.models, folds=request.folds, most=request.count
    )


def conclude(view: ConversationView[TuningBrief]) -> AgentAction:
    fitted = view.last_success(*FITTING_TOOLS)
    if fitted is None:
        reasons = [completed.refusal or "" for completed in view.refusals(*FITTING_TOOLS)][-1:]
        return finish(Tuned(notes=reasons), message=f"Nothing more was fitted. {' '.join(reasons)}".strip())
    return finish(Tuned(), message=f"{len(fitted.read(RoundFacts).fits)} more fits are finished.")


RULES: tuple[Rule[TuningBrief], ...] = (fit_more, conclude)
