"""The second stage: one round of tuning, where it is likely to pay."""

from typing import Any

from app.agents.conversation import View
from app.agents.model_evaluator.output import Tuned
from app.agents.policy import Move, Rule, call, finish

LINEAR = {"LogisticRegression", "Ridge"}
MOST_TRIES = 12
MOST_LINEAR_TRIES = 8


def tune(view: View) -> Move | None:
    if view.tried("tune_hyperparameters"):
        return None
    models = to_tune(view)
    best = models[0]
    most = MOST_LINEAR_TRIES if _estimator(view, best) in LINEAR else MOST_TRIES
    return call("tune_hyperparameters", says=f"I tune {' and '.join(models)}.", models=models, most=most)


def tune_cheaper(view: View) -> Move | None:
    """There was no time for the best one: the cheapest of the others may still fit."""
    refused = view.refused("tune_hyperparameters")
    if view.last("tune_hyperparameters") or len(refused) != 1:
        return None
    cheapest = min(_real(view), key=lambda fit: fit["fit_s"])["name"]
    if cheapest in refused[0].arguments["models"]:
        return None
    return call("tune_hyperparameters", models=[cheapest], most=MOST_LINEAR_TRIES)


def conclude(view: View) -> Move:
    tuned = view.last("tune_hyperparameters")
    if tuned is None:
        why = [answered.refusal or "" for answered in view.refused("tune_hyperparameters")][-1:]
        return finish(Tuned(notes=why), says=f"Nothing was tuned. {' '.join(why)}".strip())
    fits = tuned.value["fits"]
    return finish(Tuned(), says=f"{len(fits)} settings were tried.")


RULES: tuple[Rule, ...] = (tune, tune_cheaper, conclude)


def to_tune(view: View) -> list[str]:
    """The best candidate and the next best of another estimator; a linear winner is tuned alone.

    Where a straight line is best, more trees hardly help.
    """
    ranked = _real(view)
    best = ranked[0]
    if best["estimator"] in LINEAR:
        return [best["name"]]
    return [best["name"], *(fit["name"] for fit in ranked[1:2])]


def _real(view: View) -> list[dict[str, Any]]:
    """Scored candidates but the baseline, the chosen one first and then by score."""
    fits = [f for f in view.brief["fits"] if f["estimator"] != "baseline" and f["score"] is not None]
    sign = -1 if fits and fits[0]["greater_is_better"] else 1
    chosen = view.brief["chosen"]
    return sorted(fits, key=lambda fit: (fit["name"] != chosen, sign * fit["score"]))


def _estimator(view: View, name: str) -> str:
    return str(next(fit["estimator"] for fit in view.brief["fits"] if fit["name"] == name))
