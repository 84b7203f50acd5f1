"""The first stage: compare the candidates, decide about tuning, and look closely at the one that is chosen."""

from typing import Any

from app.agents.conversation import View
from app.agents.model_evaluator.output import Verdict
from app.agents.policy import Move, Rule, call, finish

NOTHING_FOUND = "No candidate beats the baseline by more than chance: the data may not hold the answer."


def compare(view: View) -> Move | None:
    return None if view.tried("compare_models") else call("compare_models", models=_names(view))


def compare_what_is_there(view: View) -> Move | None:
    """A candidate that nobody knows was named: leave it out."""
    refused = view.refused("compare_models")
    if view.last("compare_models") or not refused or len(refused) > 2:
        return None
    named = refused[-1].arguments["models"]
    left = [name for name in named if repr(name) not in str(refused[-1].refusal)]
    return call("compare_models", models=left) if left and left != named else None


def tune_first(view: View) -> Move | None:
    """Close looks wait until tuning is done."""
    comparison = view.last("compare_models")
    if comparison is None or not _worth_tuning(view, comparison.value):
        return None
    facts = comparison.value
    says = f"{facts['reason']} I tune before I look closer."
    verdict = Verdict(
        chosen=facts["chosen"], tune=True, beats_baseline=facts["beats_baseline"], reason=facts["reason"]
    )
    return finish(verdict, says=says)


def look_closely(view: View) -> Move | None:
    comparison = view.last("compare_models")
    if comparison is None or view.tried("evaluate_model"):
        return None
    return call("evaluate_model", model=comparison.value["chosen"])


def explain(view: View) -> Move | None:
    comparison = view.last("compare_models")
    if comparison is None or view.tried("feature_importance") or _is_baseline(view, comparison.value["chosen"]):
        return None
    return call("feature_importance", model=comparison.value["chosen"])


def conclude(view: View) -> Move:
    comparison = view.last("compare_models")
    if comparison is None:
        best = _best_by_score(view)
        return finish(Verdict(chosen=best, reason="They could not be compared; this one scored best."))
    facts = comparison.value
    evaluation, importance = view.last("evaluate_model"), view.last("feature_importance")
    cautions = list(evaluation.value["notes"]) if evaluation else []
    if facts["beats_baseline"] is False and not any("baseline" in caution for caution in cautions):
        cautions.insert(0, NOTHING_FOUND)
    useless = importance is not None and not any(entry["helps"] for entry in importance.value["importances"])
    if useless:
        cautions.append("No single column helps measurably.")
    verdict = Verdict(
        chosen=facts["chosen"],
        beats_baseline=facts["beats_baseline"],
        reason=facts["reason"],
        cautions=cautions[:10],
    )
    leans = _leans(importance.value) if importance else ""
    return finish(verdict, says=" ".join(filter(None, [facts["reason"], leans, *cautions[:2]])))


RULES: tuple[Rule, ...] = (compare, compare_what_is_there, tune_first, look_closely, explain, conclude)


def _worth_tuning(view: View, comparison: dict[str, Any]) -> bool:
    """A candidate that beats the baseline, time left, and no round of tuning yet."""
    if not view.brief["can_tune"] or comparison["beats_baseline"] is False:
        return False
    return not _is_baseline(view, comparison["chosen"])


def _names(view: View) -> list[str]:
    return [fit["name"] for fit in view.brief["fits"]]


def _is_baseline(view: View, name: str) -> bool:
    return any(fit["name"] == name and fit["estimator"] == "baseline" for fit in view.brief["fits"])


def _best_by_score(view: View) -> str:
    scored = [fit for fit in view.brief["fits"] if fit["score"] is not None] or list(view.brief["fits"])
    better = max if scored[0]["greater_is_better"] else min
    return str(better(scored, key=lambda fit: fit["score"] or 0.0)["name"])


def _leans(importance: dict[str, Any]) -> str:
    helping = [f"`{entry['column']}`" for entry in importance["importances"] if entry["helps"]][:3]
    return f"It leans most on {', '.join(helping)}." if helping else ""
