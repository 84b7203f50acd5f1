"""Rules of the stage `evaluation`: build the ensemble, request more fits if there is time, and choose."""

from collections.abc import Mapping, Sequence

from app.agents.fit_summaries import ensemble_weights, fold_order
from app.agents.model_evaluator.brief import BlendedModel, EvaluationBrief, EvaluatorBrief, ModelChoice
from app.agents.model_evaluator.next_fits import TuningState, next_round
from app.agents.model_evaluator.output import Verdict
from app.agents.runtime.conversation import CompletedCall, ConversationView
from app.agents.runtime.offline_policy import AgentAction, Rule, call, finish
from app.modeling.facts.fits import FitSummary
from app.modeling.problem.folds import SplitKind
from app.modeling.problem.kinds import BASELINE, ENSEMBLE

NO_SKILL_CAUTION = (
    "No candidate beats the baseline by more than chance: the features may not predict the target."
)
MAX_DROPPED_WEIGHT = 0.2
"""Incomplete candidates whose weights sum to no more than this are left out of the last ensemble, so that the
other weights are fitted on more rows."""


def blend(view: ConversationView[EvaluationBrief]) -> AgentAction | None:
    """Build an ensemble of new candidates, weighted ones, and those with the most folds.

    Skipped if nothing was fitted since the last ensemble.
    """
    brief = view.brief
    max_folds = max((len(fit.fitted_folds) for fit in _scored_candidates(brief)), default=0)
    names = [
        fit.name
        for fit in _scored_candidates(brief)
        if brief.weights.get(fit.name, 1.0) > 0 or len(fit.fitted_folds) == max_folds > 1
    ]
    if brief.blended or view.was_called("build_ensemble") or wants_single(brief) or len(names) < 2:
        return None
    return call("build_ensemble", models=names)


def request_tuning(view: ConversationView[EvaluationBrief]) -> AgentAction | None:
    """Request another round of fits before any detailed comparison, if time allows."""
    brief = view.brief
    state = make_tuning_state(brief, _first_ensemble_weights(view))
    if not brief.can_tune or view.was_called("compare_models") or next_round(state) is None:
        return None
    ensemble = view.last_success("build_ensemble")
    best = ensemble.read(BlendedModel) if ensemble else _best_by_score(brief.fits)
    score_text = f"{best.name} has {best.metric} {_format_score(best.score)}"
    introduction = (
        f"The first model is ready after {brief.worked_s:.0f} s: " if not state.completed_rounds else ""
    )
    verdict = Verdict(chosen=best.name, tune=True, reason=f"{score_text}; there is time for more.")
    return finish(verdict, message=f"{introduction}{score_text}.")


def reblend(view: ConversationView[EvaluationBrief]) -> AgentAction | None:
    """Rebuild the last ensemble without incomplete candidates of little weight."""
    blends = len(view.successes("build_ensemble")) + view.brief.blended
    if blends != 1 or view.was_called("compare_models"):
        return None
    weights = _first_ensemble_weights(view)
    weighted = [fit for fit in _scored_candidates(view.brief) if weights.get(fit.name, 0.0) > 0]
    max_folds = max((len(fit.fitted_folds) for fit in weighted), default=0)
    incomplete = [fit.name for fit in weighted if len(fit.fitted_folds) < max_folds]
    if not incomplete or sum(weights[name] for name in incomplete) > MAX_DROPPED_WEIGHT:
        return None
    remaining = [fit.name for fit in weighted if fit.name not in incomplete]
    return call("build_ensemble", models=remaining) if len(remaining) > 1 else None


def compare(view: ConversationView[EvaluationBrief]) -> AgentAction | None:
    if view.was_called("compare_models"):
        return None
    ensemble = [ENSEMBLE] if view.brief.blended or view.last_success("build_ensemble") else []
    return call("compare_models", models=[*ensemble, *(fit.name for fit in view.brief.fits)])


def compare_existing(view: ConversationView[EvaluationBrief]) -> AgentAction | None:
    """Repeat a refused comparison without the unknown candidates."""
    refused = view.refusals("compare_models")
    if view.last_success("compare_models") or not refused or len(refused) > 2:
        return None
    requested = refused[-1].arguments["models"]
    valid_names = [name for name in requested if repr(name) not in str(refused[-1].refusal)]
    return call("compare_models", models=valid_names) if valid_names and valid_names != requested else None


def merge_folds(view: ConversationView[EvaluationBrief]) -> AgentAction | None:
    """Merge the fold models of a single chosen candidate into one model."""
    comparison = view.last_success("compare_models")
    if comparison is None:
        return None
    name = comparison.read(ModelChoice).candidate
    fit = next((fit for fit in _scored_candidates(view.brief) if fit.name == name), None)
    is_merged = any(answer.arguments.get("models") == [name] for answer in _tool_calls(view, "build_ensemble"))
    part_count = len(fit.fitted_folds) + fit.refitted if fit else 0
    return call("build_ensemble", models=[name]) if part_count > 1 and not is_merged else None


def conclude(view: ConversationView[EvaluationBrief]) -> AgentAction:
    comparison = view.last_success("compare_models")
    if comparison is None:
        best = _best_by_score(view.brief.fits).name
        return finish(
            Verdict(chosen=best, reason="The candidates could not be compared. This one has the best score.")
        )
    choice = comparison.read(ModelChoice)
    cautions = [NO_SKILL_CAUTION] if choice.beats_baseline is False else []
    verdict = Verdict(
        chosen=choice.candidate, beats_baseline=choice.beats_baseline, reason=choice.reason, cautions=cautions
    )
    return finish(verdict, message=" ".join([choice.reason, *cautions]))


RULES: tuple[Rule[EvaluationBrief], ...] = (
    blend,
    request_tuning,
    reblend,
    compare,
    compare_existing,
    merge_folds,
    conclude,
)


def wants_single(brief: EvaluatorBrief) -> bool:
    return brief.model != "ensemble"


def make_tuning_state(brief: EvaluatorBrief, weights: Mapping[str, float]) -> TuningState:
    return TuningState(
        fits=brief.fits,
        weights=weights,
        fold_order=fold_order(brief.folds),
        time_left_s=brief.time_left_s,
        fit_slots=brief.fit_slots,
        completed_rounds=brief.completed_rounds,
        is_single_model=wants_single(brief),
        is_time_ordered=brief.folds.kind is SplitKind.TIME,
    )


def _first_ensemble_weights(view: ConversationView[EvaluationBrief]) -> dict[str, float]:
    """Return the weights of the first ensemble of this conversation, which included every candidate."""
    blends = view.successes("build_ensemble")
    if not blends:
        return dict(view.brief.weights)
    return ensemble_weights(blends[0].arguments["models"], blends[0].read(BlendedModel).weights)


def _tool_calls(view: ConversationView[EvaluationBrief], tool: str) -> list[CompletedCall]:
    return [completed for completed in view.completed_calls if completed.name == tool]


def _scored_candidates(brief: EvaluatorBrief) -> list[FitSummary]:
    return [fit for fit in brief.fits if fit.estimator != BASELINE and fit.score is not None]


def _best_by_score(fits: Sequence[FitSummary]) -> FitSummary:
    scored = [fit for fit in fits if fit.score is not None] or list(fits)
    max_folds = max(len(fit.fitted_folds) for fit in scored)
    scored = [fit for fit in scored if len(fit.fitted_folds) == max_folds]  # others have scores of other rows
    choose = max if scored[0].greater_is_better else min
    return choose(scored, key=lambda fit: fit.score or 0.0)


def _format_score(score: float | None) -> str:
    return "none" if score is None else f"{score:.4g}"
