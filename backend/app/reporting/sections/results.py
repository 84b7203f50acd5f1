"""The section with the scores of the chosen model on the hold-out."""

from collections.abc import Sequence

from app.modeling.problem.metrics import METRICS
from app.reporting.class_names import are_flags, is_true
from app.reporting.document.elements import Element, Paragraph, ReportTable, Section
from app.reporting.document.inline_elements import Name, Text
from app.reporting.draft import EMPTY_CELL, ReportDraft
from app.reporting.evidence import RecordedFact, TypedFact
from app.reporting.fact_records import ReferenceForecast
from app.reporting.metrics import describe_metric

_FIGURES = (
    "roc",
    "precision_recall",
    "confusion",
    "calibration",
    "predicted_vs_actual",
    "residuals",
)
_MAX_CLASSES = 3
"""Classes up to which the confusion matrix is also a table: it has a row per pair of classes."""


def hold_out(draft: ReportDraft) -> Section | None:
    final, delivered = draft.facts.final, draft.facts.delivered
    metrics = delivered.at("metrics") if delivered else None
    if final is None or delivered is None or metrics is None:
        return None
    order = list(METRICS)
    # The deciding metric first, the others as in the table of metrics.
    measured = sorted(
        metrics.children(), key=lambda pair: (pair[0] != draft.facts.metric, _place(order, pair[0]))
    )
    rows = [_row(draft, delivered, name, score) for name, score in measured]
    table = ReportTable(
        ("Metric", "Hold-out", "Interval", "Baseline"),
        rows,
        "Marked: the deciding metric",
        numeric=(1, 2, 3),
        marked=[place for place, (name, _) in enumerate(measured) if name == draft.facts.metric],
    )
    blocks: list[Element] = [
        Paragraph(_opening(draft, final, delivered)),
        table,
        *_without_model(draft),
        *_threshold(draft, final),
        *_bounds(draft, delivered),
        *_classes(draft, final),
    ]
    return Section("results", "Results on the hold-out", [*blocks, *draft.galleries(*_FIGURES)])


def _opening(draft: ReportDraft, final: RecordedFact, delivered: RecordedFact) -> Text:
    rows = draft.render(final.at("rows"), "integer")
    method = delivered.at("interval_method")
    how = (" Intervals: ", draft.read(method), ".") if method else ()
    # The methods have no folds: the model's score there would stand beside theirs.
    cv = delivered.at("cv_score")
    how = (*how, *_whose_scores(draft, final))
    validation = "score on one validation fold" if draft.facts.has_one_fold else "cross-validation score"
    cv_text = (f" The {validation} was ", draft.read(cv, draft.metric.style), ".") if cv else ()
    # Of a forecast of every step each row counts once per step.
    unit = " rows" if final.at("by_step") is None else " forecasts from rows"
    # A member of a family has looked at a hold-out that others looked at before: `once` would be untrue.
    if final.at("family"):
        return ("Measured on ", *rows, unit, " not used for fits.", *cv_text, *how)
    return ("Measured once, on ", *rows, unit, " not used before.", *cv_text, *how)


def _whose_scores(draft: ReportDraft, final: RecordedFact) -> Text:
    """Say whose scores the table has, where the model does not make the forecast, and give the model's."""
    if draft.facts.methods_name is None or draft.facts.chosen_model is None:
        return ()
    score = final.at("metrics", draft.facts.metric, "value")
    return (
        " Scores are those of the ",
        draft.read(draft.facts.methods_name),
        ", which make the forecast; the ",
        draft.metric_name,
        " of the model ",
        draft.read(draft.facts.chosen_model),
        " is ",
        *draft.score(score),
        ".",
    )


def _row(draft: ReportDraft, final: RecordedFact, name: str, score: RecordedFact) -> list[Text]:
    style = describe_metric(name).style
    return [
        (Name(describe_metric(name).label, code=False),),
        draft.score(score.at("value"), style),
        draft.interval(score, style) or EMPTY_CELL,
        draft.score(final.at("baseline", name), style),
    ]


def _place(order: list[str], name: str) -> int:
    return order.index(name) if name in order else len(order)


def _without_model(draft: ReportDraft) -> list[Element]:
    """Tabulate forecasts, or other predictions, that need no model."""
    rows = [_reference(draft, reference) for reference in draft.facts.references]
    heads = ("Without a model", draft.metric.label, "Gain of the model, interval")
    title = f"{'Forecasts' if draft.facts.looks_ahead else 'Predictions'} that need no model, on the same rows"
    return [ReportTable(heads, rows, title, numeric=(1, 2))] if rows else []


def _reference(draft: ReportDraft, reference: TypedFact[ReferenceForecast]) -> list[Text]:
    style, gain = draft.metric.style, reference.at("difference")
    bounds = draft.interval(gain, style) if gain else ()
    name = Name(reference.content.name, code=False)
    return [(name,), draft.score(reference.at("score"), style), bounds or EMPTY_CELL]


def _threshold(draft: ReportDraft, final: RecordedFact) -> list[Element]:
    """Describe the calibration of probabilities and the decision threshold."""
    fit = draft.facts.find_fit(str(draft.facts.chosen_model.value)) if draft.facts.chosen_model else None
    blocks: list[Element] = []
    calibration = fit.at("calibration", "text") if fit else None
    if calibration and calibration.value:
        blocks.append(Paragraph((draft.read(calibration),)))
    threshold = final.at("threshold")
    if threshold is None:
        return blocks
    reason = fit.at("threshold_text") if fit else None
    if reason and reason.value:
        return [*blocks, Paragraph((draft.read(reason),))]
    claim = draft.read(threshold, "score")
    opening = "The positive class is predicted from a probability of "
    return [*blocks, Paragraph((opening, claim, ". It was set on training rows."))]


def _bounds(draft: ReportDraft, final: RecordedFact) -> list[Element]:
    """Describe the prediction intervals and their coverage."""
    intervals = final.at("intervals")
    coverage = intervals.at("coverage") if intervals else None
    if intervals is None or coverage is None or coverage.at("value") is None:
        return []
    within = draft.interval(coverage, "percent")
    return [
        Paragraph(
            (
                "Each prediction has an interval made to cover the true value in ",
                *draft.render(intervals.at("level"), "whole_percent"),
                " of cases. On the hold-out it covered it in ",
                *draft.render(coverage.at("value"), "percent"),
                *((" (", *within, ")") if within else ()),
                "; half of the intervals are narrower than ",
                *draft.render(intervals.at("width"), "quantity"),
                ".",
            )
        )
    ]


def _name_classes(draft: ReportDraft, labels: Sequence[RecordedFact]) -> list[Text]:
    """Return the classes as the answer names them: `1: survived` where they say no more than yes or no."""
    target = draft.target
    rendered = [draft.render(label) for label in labels]
    if target is None or not are_flags([label.value for label in labels]):
        return rendered
    # The class stays a claim, which the record proves; what it means is the name of its column.
    return [
        (*text, ": " if is_true(label.value) else ": not ", draft.read(target))
        for text, label in zip(rendered, labels, strict=True)
    ]


def _classes(draft: ReportDraft, final: RecordedFact) -> list[Element]:
    confusion = final.at("confusion")
    labels, counts = (confusion.at("labels"), confusion.at("counts")) if confusion else (None, None)
    if labels is None or counts is None or len(labels.value) > _MAX_CLASSES:
        return []
    names = _name_classes(draft, labels.items())
    rows = [
        [names[actual], names[predicted], draft.render(counts.at(actual, predicted), "integer")]
        for actual in range(len(names))
        for predicted in range(len(names))
    ]
    return [ReportTable(("Actual", "Predicted", "Rows"), rows, "Confusion on the hold-out", numeric=(2,))]
