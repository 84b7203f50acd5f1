"""The second stage: one more round of fits, where it is likely to pay."""

from app.agents.model_evaluator.judging import standing_of
from app.agents.model_evaluator.next_fits import Folds, next_round
from app.agents.model_evaluator.output import Tuned
from app.agents.runtime.conversation import View
from app.agents.runtime.policy import AgentAction, Rule, call, finish

FITTING = ("add_folds", "tune_hyperparameters")


def fit_more(view: View) -> AgentAction | None:
    if view.tried(*FITTING):
        return None
    wanted = next_round(standing_of(view, dict(view.brief["weights"])))
    if wanted is None:
        return None
    models = " and ".join(wanted.models)
    if isinstance(wanted, Folds):
        what = "further folds" if wanted.folds else "all rows once more, with the latest,"
        says = f"I fit {what} of {models}."
        return call("add_folds", says=says, models=wanted.models, folds=wanted.folds)
    says = f"I try others like {models}."
    return call("tune_hyperparameters", says=says, models=wanted.models, folds=wanted.folds, most=wanted.most)


def conclude(view: View) -> AgentAction:
    fitted = view.last(*FITTING)
    if fitted is None:
        why = [answered.refusal or "" for answered in view.refused(*FITTING)][-1:]
        return finish(Tuned(notes=why), says=f"Nothing more was fitted. {' '.join(why)}".strip())
    return finish(Tuned(), says=f"{len(fitted.value['fits'])} more fits are in.")


RULES: tuple[Rule, ...] = (fit_more, conclude)
