"""The verdict on the model: if its hold-out and its cross-validation permit to use it."""

from dataclasses import dataclass

from app.reporting.document.elements import Tone
from app.reporting.document.inline_elements import Name, Text, plain_text
from app.reporting.draft import ReportDraft
from app.reporting.evidence import TypedFact
from app.reporting.fact_records import EvaluationRecord
from app.reporting.session_facts import article_of, is_right_more_often


@dataclass(frozen=True)
class ModelVerdict:
    """`text`: one line of the report. `opening`: words before the first sentence of the answer, which must not
    be read without them; empty where the model may be used."""

    tone: Tone
    text: Text
    opening: str = ""


_NO_BETTER_THAN_BASELINE = (
    ", the model is not significantly better than the baseline on the hold-out. Do not use it: see what to do."
)
_UNSURE_PROBABILITIES = (
    ", the model is not significantly better than the baseline on the hold-out: do not rely on its "
    "probabilities. The classes that it names are right more often than the commonest class."
)
_DISAGREES = (
    ", it beats the baseline, but hold-out and cross-validation disagree: read the limits before using it."
)
_CONFIRMED = (
    ", it beats the baseline by more than chance explains, and cross-validation agrees with the hold-out."
)
_CONFIRMED_ON_ONE_FOLD = ", it beats the baseline beyond chance, and its one fold agrees with the hold-out."
_NO_BETTER_THAN_REFERENCES = (
    ", it beats the baseline, but not every reference forecast by more than chance explains: one of those may "
    "do as well."
)
_NO_BETTER_THAN_COLUMN = (
    ", it beats the baseline, but not ",
    " by more than chance explains: that needs no model and may do as well.",
)
_WORSE_THAN_COLUMN = (
    ", it beats the baseline, but is worse on the hold-out than ",
    ": that needs no model and may do as well.",
)
_BEATS = ", it beats the baseline by more than chance explains."
_METHODS_FORECAST = (
    ", the classical methods were better than the model on the hold-out: they make the forecast, and the model "
    "is not used."
)

_METHODS_NO_BETTER = " They are not better than assuming no change by more than chance explains."


def judge(draft: ReportDraft) -> ModelVerdict | None:
    """Return the verdict; None without an evaluation on the hold-out, and where a backtest gives its own."""
    final = draft.facts.final
    if final is None:
        return None
    # A model may rank rows well and still name classes no better than the commonest one.
    subject: Text = ("By ", draft.metric_name)
    if draft.facts.is_forecast_by_methods:
        delivered = draft.facts.delivered
        if draft.facts.methods_name and delivered and delivered.content.beats_baseline is not True:
            return ModelVerdict("warn", (*subject, _METHODS_FORECAST, _METHODS_NO_BETTER))
        return ModelVerdict("info", (*subject, _METHODS_FORECAST))
    if final.content.beats_baseline is not True:
        if is_right_more_often(final):
            return ModelVerdict("warn", (*subject, _UNSURE_PROBABILITIES))
        # Without a comparison there is none that the model failed.
        opening = "" if final.content.beats_baseline is None else _describe_no_model(draft)
        return ModelVerdict("warn", (*subject, _NO_BETTER_THAN_BASELINE), opening)
    if draft.facts.backtest:
        return None
    return _judge_better_model(draft, final, subject)


def _judge_better_model(draft: ReportDraft, final: TypedFact[EvaluationRecord], subject: Text) -> ModelVerdict:
    """Return the verdict on a model that beats the baseline on the hold-out."""
    agrees = final.at("agrees_with_cv")
    opening = ""
    if _is_baseline_first(draft):
        opening = _BASELINE_FIRST_ON_ONE_FOLD if draft.facts.has_one_fold else _BASELINE_FIRST
    if not all(reference.content.is_beaten for reference in draft.facts.references):
        return ModelVerdict("warn", (*subject, *_describe_unbeaten(draft)), opening)
    if agrees is None:
        return ModelVerdict("good", (*subject, _BEATS), opening)
    if agrees.value:
        confirmed = _CONFIRMED_ON_ONE_FOLD if draft.facts.has_one_fold else _CONFIRMED
        return ModelVerdict("good", (*subject, confirmed), opening)
    return ModelVerdict("warn", (*subject, _DISAGREES), opening)


def _describe_unbeaten(draft: ReportDraft) -> Text:
    """Describe that a prediction without a model may do as well; of those by a column the best is named."""
    if draft.facts.looks_ahead:
        return (_NO_BETTER_THAN_REFERENCES,)
    best = next(reference.content for reference in draft.facts.references if not reference.content.is_beaten)
    is_better = (best.difference.value or 0.0) < 0
    before, after = _WORSE_THAN_COLUMN if is_better else _NO_BETTER_THAN_COLUMN
    return (before, article_of(best), Name(best.name, code=False), after)


_BASELINE_FIRST = "In cross-validation the baseline was better than every model."

_BASELINE_FIRST_ON_ONE_FOLD = "On the one validation fold the baseline was better than every model."


def _is_baseline_first(draft: ReportDraft) -> bool:
    baseline = draft.facts.comparison.text("baseline") if draft.facts.comparison else ""
    best = next((entry.content.name for entry in draft.facts.leaderboard if entry.content.is_compared), "")
    return bool(baseline) and best == baseline


def _describe_no_model(draft: ReportDraft) -> str:
    problem = draft.facts.problem
    if problem is not None and problem.text("kind") == "classification":
        baseline = "naming the commonest class"
    else:
        # The baseline of a forecast is the present value, that of other numbers their mean.
        baseline = "assuming no change" if draft.facts.looks_ahead else "answering with the average"
    return f"No usable model: not better than {baseline}."


def to_json(draft: ReportDraft) -> dict[str, str] | None:
    """Return the verdict as JSON, `{tone, text, opening}`."""
    verdict = judge(draft)
    if verdict is None:
        return None
    return {"tone": verdict.tone, "text": plain_text(verdict.text), "opening": verdict.opening}
