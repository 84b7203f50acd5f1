"""The first stage: blend what there is, decide whether more fits are worth their time, and choose."""

from typing import Any

from app.agents.fits import weights_of
from app.agents.folds import fold_order
from app.agents.model_evaluator.next_fits import Standing, next_round
from app.agents.model_evaluator.output import Verdict
from app.agents.runtime.conversation import Answered, View
from app.agents.runtime.policy import AgentAction, Rule, call, finish
from app.modeling.problem.kinds import BASELINE, ENSEMBLE

NOTHING_FOUND = "No candidate beats the baseline by more than chance: the data may not hold the answer."
LITTLE = 0.2
"""Candidates that lack folds and weigh no more than this together are left out of the last blend: the others'
weights then follow from more rows."""


def blend(view: View) -> AgentAction | None:
    """What was not weighed yet, what earned weight, and what was judged on as many folds as any.

    Not again when nothing was fitted since.
    """
    weights = view.brief["weights"]
    most = max((len(fit["run"]) for fit in _real(view)), default=0)
    alive = [
        fit["name"] for fit in _real(view) if weights.get(fit["name"], 1.0) > 0 or len(fit["run"]) == most > 1
    ]
    if view.brief["blended"] or view.tried("build_ensemble") or wants_single(view) or len(alive) < 2:
        return None
    return call("build_ensemble", models=alive)


def go_on(view: View) -> AgentAction | None:
    """More fits first: close looks wait until the last of them."""
    standing = standing_of(view, _weights(view))
    if not view.brief["can_tune"] or view.tried("compare_models") or next_round(standing) is None:
        return None
    blended = view.last("build_ensemble")
    chosen = blended.value if blended else _best_by_score(view)
    told = f"{chosen['name']} has {chosen['metric']} {_shown(chosen['score'])}"
    first = f"A first model is ready after {view.brief['worked_s']:.0f} s: " if not standing.rounds else ""
    verdict = Verdict(chosen=chosen["name"], tune=True, reason=f"{told}; there is time for more.")
    return finish(verdict, says=f"{first}{told}.")


def blend_again(view: View) -> AgentAction | None:
    """The last blend: without those that would hold the others to fewer rows and hardly count."""
    blends = len(view.all("build_ensemble")) + bool(view.brief["blended"])
    if blends != 1 or view.tried("compare_models"):
        return None
    weights = _weights(view)
    used = [fit for fit in _real(view) if weights.get(fit["name"], 0.0) > 0]
    most = max((len(fit["run"]) for fit in used), default=0)
    behind = [fit["name"] for fit in used if len(fit["run"]) < most]
    if not behind or sum(weights[name] for name in behind) > LITTLE:
        return None
    kept = [fit["name"] for fit in used if fit["name"] not in behind]
    return call("build_ensemble", models=kept) if len(kept) > 1 else None


def compare(view: View) -> AgentAction | None:
    if view.tried("compare_models"):
        return None
    made = [ENSEMBLE] if view.brief["blended"] or view.last("build_ensemble") else []
    return call("compare_models", models=[*made, *_names(view)])


def compare_what_is_there(view: View) -> AgentAction | None:
    """A candidate that nobody knows was named: leave it out."""
    refused = view.refused("compare_models")
    if view.last("compare_models") or not refused or len(refused) > 2:
        return None
    named = refused[-1].arguments["models"]
    left = [name for name in named if repr(name) not in str(refused[-1].refusal)]
    return call("compare_models", models=left) if left and left != named else None


def join_folds(view: View) -> AgentAction | None:
    """One model was chosen, and its folds are models of their own: make them one."""
    comparison = view.last("compare_models")
    if comparison is None:
        return None
    name = comparison.value["chosen"]
    fit = next((fit for fit in _real(view) if fit["name"] == name), None)
    tried = any(answer.arguments.get("models") == [name] for answer in _tried(view, "build_ensemble"))
    parts = len(fit["run"]) + bool(fit.get("refitted")) if fit else 0
    return call("build_ensemble", models=[name]) if parts > 1 and not tried else None


def conclude(view: View) -> AgentAction:
    comparison = view.last("compare_models")
    if comparison is None:
        best = str(_best_by_score(view)["name"])
        return finish(Verdict(chosen=best, reason="They could not be compared; this one scored best."))
    facts = comparison.value
    cautions = [NOTHING_FOUND] if facts["beats_baseline"] is False else []
    verdict = Verdict(
        chosen=facts["chosen"],
        beats_baseline=facts["beats_baseline"],
        reason=facts["reason"],
        cautions=cautions,
    )
    return finish(verdict, says=" ".join([facts["reason"], *cautions]))


RULES: tuple[Rule, ...] = (
    blend,
    go_on,
    blend_again,
    compare,
    compare_what_is_there,
    join_folds,
    conclude,
)


def wants_single(view: View) -> bool:
    return str(view.brief.get("model", "ensemble")) != "ensemble"


def standing_of(view: View, weights: dict[str, float]) -> Standing:
    brief = view.brief
    return Standing(
        fits=brief["fits"],
        weights=weights,
        order=fold_order(brief["folds"]),
        seconds=brief["time_left_s"],
        hands=int(brief["hands"]),
        rounds=int(brief["rounds"]),
        single=wants_single(view),
        in_time=brief["folds"]["kind"] == "time",
    )


def _weights(view: View) -> dict[str, float]:
    """Of the first blend of this conversation, which had every candidate in it; what got none has 0."""
    blends = view.all("build_ensemble")
    if not blends:
        return dict(view.brief["weights"])
    return weights_of(blends[0].arguments["models"], blends[0].value)


def _tried(view: View, tool: str) -> list[Answered]:
    return [answered for answered in view.answered if answered.name == tool]


def _real(view: View) -> list[dict[str, Any]]:
    return [fit for fit in view.brief["fits"] if fit["estimator"] != BASELINE and fit["score"] is not None]


def _names(view: View) -> list[str]:
    return [fit["name"] for fit in view.brief["fits"]]


def _best_by_score(view: View) -> dict[str, Any]:
    scored = [fit for fit in view.brief["fits"] if fit["score"] is not None] or list(view.brief["fits"])
    better = max if scored[0]["greater_is_better"] else min
    best: dict[str, Any] = better(scored, key=lambda fit: fit["score"] or 0.0)
    return best


def _shown(score: float | None) -> str:
    return "none" if score is None else f"{score:.4g}"
