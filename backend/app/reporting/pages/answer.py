"""The answer block: the first sentence in units, the comparison without a model, a verdict, and a picture."""

from app.reporting.document.blocks import AnswerBlock
from app.reporting.document.elements import Callout
from app.reporting.document.inline_elements import Text
from app.reporting.draft import ReportDraft
from app.reporting.driver_texts import effect_sentences, leading_sentence
from app.reporting.evidence import RecordedFact
from app.reporting.pages import assumptions, question_answer
from app.reporting.pages.forecast_comparisons import bound_details
from app.reporting.pages.forecasts import answer_by_forecast, forecast_table
from app.reporting.pages.interval_coverage import missed_coverage
from app.reporting.pages.scores import (
    answer_by_errors,
    answer_by_hits,
    deciding_score,
)
from app.reporting.pages.statement import Statement
from app.reporting.pages.verdict import judge
from app.reporting.sections.trading import edge_verdict

_PICTURES = {"forecast": "forecast", "classification": "confusion", "regression": "predicted_vs_actual"}
"""Figure of the answer by its kind; the others stand in the appendix."""


def block(draft: ReportDraft) -> AnswerBlock:
    facts = draft.facts
    if facts.is_question:
        return question_answer.block(draft)
    # Scores of cross-validation are no answer: they were used to choose, and are optimistic.
    if facts.final is None:
        return AnswerBlock(_unfinished(draft))
    answer = make_answer(draft)
    effects = effect_sentences(draft) if facts.wants_drivers else []
    return AnswerBlock(
        answer.text,
        [
            *effects,
            *bound_details(draft),
            *_error_of_model(draft, facts.delivered or facts.final),
            *assumptions.sentences(draft),
            *_comparison(draft, facts.delivered or facts.final),
        ],
        _verdict(draft),
        answer.figures,
        [] if facts.backtest else forecast_table(draft),
        draft.pictures(_PICTURES[_kind(draft)]),
    )


def headline(draft: ReportDraft) -> Text:
    """Return the answer in one sentence, as report, result, terminal and model card state it."""
    return make_answer(draft).text


def make_answer(draft: ReportDraft) -> Statement:
    """Return the first sentence of the answer and its figures, behind a verdict that forbids the model."""
    answer = _state_answer(draft)
    # An answer about trading begins with a verdict of its own, which weighs costs too.
    verdict = None if draft.facts.is_question or draft.facts.backtest else judge(draft)
    if verdict is None or not verdict.opening:
        return answer
    return Statement((f"{verdict.opening} ", *answer.text), answer.figures)


def _state_answer(draft: ReportDraft) -> Statement:
    final = draft.facts.final
    if draft.facts.is_question:
        return question_answer.make_answer(draft)
    if final is None:
        return Statement(_unfinished(draft), [])
    if draft.facts.wants_drivers:
        return Statement(leading_sentence(draft), [])
    # Before the forecast: who trades has to read first whether there is an edge.
    if verdict := edge_verdict(draft):
        score = answer_by_errors(draft, final) or answer_by_hits(draft, final)
        return Statement(verdict, score.figures if score else [])
    if forecast := answer_by_forecast(draft):
        return Statement((*forecast.text, *missed_coverage(draft)), forecast.figures)
    return (
        answer_by_hits(draft, final) if _is_classification(draft) else answer_by_errors(draft, final)
    ) or Statement(deciding_score(draft, final), [])


def _is_classification(draft: ReportDraft) -> bool:
    return draft.facts.problem is not None and draft.facts.problem.text("kind") == "classification"


def _kind(draft: ReportDraft) -> str:
    if draft.facts.forecast and not draft.facts.backtest:
        return "forecast"
    return "classification" if _is_classification(draft) else "regression"


def _error_of_model(draft: ReportDraft, final: RecordedFact) -> list[Text]:
    """State the error, where the first sentence is a forecast, a verdict or the drivers."""
    facts = draft.facts
    if not facts.wants_drivers and not facts.backtest and answer_by_forecast(draft) is None:
        return []
    score = answer_by_hits(draft, final) if _is_classification(draft) else answer_by_errors(draft, final)
    return [score.text] if score else []


def _comparison(draft: ReportDraft, final: RecordedFact) -> list[Text]:
    """Compare with an answer that needs no column, in the same units."""
    is_classification = _is_classification(draft)
    name = "accuracy" if is_classification else "mae"
    model, baseline = final.at("metrics", name, "value"), final.at("baseline", name)
    if model is None or baseline is None:
        return []
    if is_classification:
        return [
            (
                "All classes together, it is right for ",
                draft.read(model, "of_hundred"),
                "; always naming the commonest class would be right for ",
                draft.read(baseline, "of_hundred"),
                ".",
            )
        ]
    # The baseline of a forecast is the present value, that of other numbers their mean.
    naive = "Assuming no change" if draft.facts.looks_ahead else "Always answering with the average"
    return [(naive, " would be wrong by ", *draft.amount(baseline), ".")]


def _verdict(draft: ReportDraft) -> Callout | None:
    """Return the verdict in one line; with a backtest the first sentence is the verdict."""
    verdict = judge(draft)
    return Callout(verdict.tone, verdict.text) if verdict else None


def _unfinished(draft: ReportDraft) -> Text:
    error = draft.facts.session.at("error", "detail")
    if error:
        return ("This session ended without a result: ", draft.read(error))
    if draft.facts.comparison:
        return (
            "Models were compared, but none was evaluated on the hold-out: every score below may be "
            "optimistic.",
        )
    return ("No model was evaluated in this session; the appendix shows its intermediate results.",)
