"""The first sentence of a model's answer, and its figures: errors in units, hits in a hundred."""

from app.reporting.class_names import TRUTHS
from app.reporting.document.blocks import AnswerFigure
from app.reporting.document.inline_elements import Name, Piece, Text
from app.reporting.draft import ReportDraft
from app.reporting.evidence import RecordedFact
from app.reporting.pages.row_nouns import row_noun
from app.reporting.pages.statement import Statement
from app.reporting.session_facts import article_of

_OUTLOOKS = {"direction": "the direction of ", "change": "the change of ", "volatility": "the volatility of "}
_MAX_PERCENT_ERROR = 1.0
"""Mean error as a share of the actual value beyond which values near zero dominate it."""


def outlook(draft: ReportDraft) -> str:
    """Return the words for the predicted quantity, to stand before the target's name."""
    problem = draft.facts.problem
    if problem and problem.at("barriers"):
        return "whether trades end with a gain by "
    return _OUTLOOKS.get(problem.text("outlook") if problem else "", "")


def target_name(draft: ReportDraft) -> Text:
    return (outlook(draft), draft.read(draft.target)) if draft.target else ("the target",)


def answer_by_errors(draft: ReportDraft, final: RecordedFact) -> Statement | None:
    """State the error of predicted numbers, or None if it was not measured."""
    typical, middle = (final.at("metrics", name, "value") for name in ("mae", "median_ae"))
    if typical is None:
        return None
    percent = _percent_error(draft, final)
    text: list[Piece] = ["Predictions of ", *target_name(draft), " are typically wrong by "]
    text += draft.amount(typical)
    text += (" (", draft.read(percent, "percent_error"), ")") if percent else ()
    figures = [AnswerFigure("typical_error", draft.read(typical, "amount"), draft.target_unit)]
    figures += [AnswerFigure("typical_error_percent", draft.read(percent, "percent_error"))] if percent else []
    if middle is not None:
        text += ("; half of the ", *row_noun(draft), " are within ", draft.read(middle, "amount"))
        figures.append(AnswerFigure("median_error", draft.read(middle, "amount"), draft.target_unit))
    return Statement((*text, "."), figures)


def _percent_error(draft: ReportDraft, final: RecordedFact) -> RecordedFact | None:
    """Return the mean error as a share of the actual value, for targets above zero."""
    lowest = draft.facts.split.at("target_summary", "min") if draft.facts.split else None
    percent = final.at("metrics", "mape", "value")
    # Changes and directions are around zero, where a share of the actual value grows without bound.
    is_meaningful = lowest is not None and lowest.value > 0 and not outlook(draft)
    return percent if percent and is_meaningful and percent.value < _MAX_PERCENT_ERROR else None


def answer_by_hits(draft: ReportDraft, final: RecordedFact) -> Statement | None:
    """State the hits among the rows that the model names, or among all rows where no class is positive."""
    precision, recall = (final.at("metrics", name, "value") for name in ("precision", "recall"))
    positive = draft.facts.problem.at("positive_class") if draft.facts.problem else None
    # A model that never names the class has a precision of 0, and its hits among all rows say more.
    if positive is not None and precision is not None and recall is not None and precision.value > 0:
        return _answer_for_class(draft, positive, precision, recall)
    accuracy = final.at("metrics", "accuracy", "value")
    if accuracy is None:
        return None
    share = draft.read(accuracy, "of_hundred")
    text = ("The right ", *target_name(draft), " is named for ", share, " ", *row_noun(draft), ".")
    return Statement(text, [AnswerFigure("right_per_hundred", share)])


def _answer_for_class(
    draft: ReportDraft, positive: RecordedFact, precision: RecordedFact, recall: RecordedFact
) -> Statement:
    hits, found_share = draft.read(precision, "of_hundred"), draft.read(recall, "of_hundred")
    term = target_name(draft) if str(positive.value).casefold() in TRUTHS else (draft.read(positive),)
    quoted: Text = ("\N{LEFT DOUBLE QUOTATION MARK}", *term, "\N{RIGHT DOUBLE QUOTATION MARK}")
    text = (
        "Right for ",
        hits,
        " ",
        *row_noun(draft),
        " that it names ",
        *quoted,
        "; of all ",
        *row_noun(draft),
        " that are ",
        *quoted,
        ", it finds ",
        found_share,
        ".",
    )
    figures = [AnswerFigure("precision_per_hundred", hits), AnswerFigure("recall_per_hundred", found_share)]
    return Statement(text, figures)


def deciding_score(draft: ReportDraft, final: RecordedFact) -> Text:
    """State the deciding metric with its interval, the rows and the baseline."""
    score = final.at("metrics", draft.facts.metric)
    baseline = final.at("baseline", draft.facts.metric)
    bounds = draft.interval(score, draft.metric.style) if score else ()
    unit = draft.target_unit if draft.metric.style == "quantity" else ()
    methods = draft.facts.methods_name
    whose: Text = ("The ", draft.read(methods), " make the forecast: their ") if methods else ("The model's ",)
    text: list[Piece] = [*whose, draft.metric_name, " is "]
    text += (*draft.score(score.at("value") if score else None), *unit)
    text += (" (interval ", *bounds, ")") if bounds else ()
    text += (" on ", *draft.render(final.at("rows"), "integer"), *_test_set(draft, final))
    text += ("; the baseline without any column reaches ", *draft.score(baseline)) if baseline else ()
    others = [other for other in draft.facts.references if not methods or other.content.name != methods.value]
    if others:
        best = others[0]  # best first
        name = Name(best.content.name, code=False)
        text += (f", {article_of(best.content)}", name, " ", *draft.score(best.at("score")))
    if methods and draft.facts.final and draft.facts.chosen_model:
        score = draft.facts.final.at("metrics", draft.facts.metric, "value")
        text += (", the model ", draft.read(draft.facts.chosen_model), " ", *draft.score(score))
    return (*text, ".")


def _test_set(draft: ReportDraft, final: RecordedFact) -> Text:
    """Describe the test set: rows, or forecasts if each step is forecast."""
    horizon = draft.facts.problem.at("horizon") if draft.facts.problem else None
    if horizon is None or final.at("by_step") is None:
        noun = draft.facts.split.at("row_noun") if draft.facts.split else None
        rows: Text = (draft.read(noun),) if noun else ("rows",)
        return (" ", *rows, " whose outcomes were" if noun else " that were", " not used in training")
    return (" forecasts of the next ", draft.read(horizon, "integer"), " rows, none of them used in training")
