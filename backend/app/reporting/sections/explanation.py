"""The sections on feature importance, partial dependence, SHAP values and error segments."""

from collections.abc import Sequence

from app.reporting.document.elements import Element, Paragraph, ReportTable, Section
from app.reporting.document.inline_elements import Text
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.evidence import RecordedFact, TypedFact, items_at
from app.reporting.figure_data import ImportanceEntry

_MAX_COLUMNS = 12
"""Columns in the table of importances; further ones rarely have a significant importance."""
_MAX_NAMED = 4
"""Columns named in a sentence, so that it stays readable."""
_NO_COLUMN_STANDS_OUT = "No column has a significant importance on these rows; with more rows, some may. "
_MIN_CORRELATION = 0.5
"""Rank correlation from which a feature is reported to raise or lower the prediction."""


def reliance(draft: ReportDraft) -> Section | None:
    importance = draft.facts.importance
    ranked = draft.facts.importances
    if importance is None or not ranked:
        return None
    blocks: list[Element] = [
        Paragraph((*_unused_model(draft), *_opening(draft, importance))),
        *draft.galleries("importances"),
        _table(draft, ranked),
        *_left_out(draft, importance),
        *_dependence(draft),
        *_contributions(draft),
    ]
    return Section("importances", "Feature importance", blocks)


def _unused_model(draft: ReportDraft) -> Text:
    """Say that what follows is about a model that does not make the forecast."""
    if not draft.facts.is_forecast_by_methods or draft.facts.chosen_model is None:
        return ()
    return ("Of the model ", draft.read(draft.facts.chosen_model), ", which does not make the forecast. ")


def errors(draft: ReportDraft) -> Section | None:
    segments = draft.facts.explanation.at("segments") if draft.facts.explanation else None
    if segments is None:
        return None
    # How many were tested is told, or nothing found would read as nothing looked for.
    tested = draft.render(segments.at("tested"), "integer")
    worst = draft.facts.worst_segments
    if not worst:
        text = (
            "No segment has significantly more error: of ",
            *tested,
            " segments tested (values and ranges of single ",
        )
        return Section(
            "errors",
            "Errors by segment",
            [Paragraph((*text, "columns), none is worse than the rest by more than chance explains."))],
        )
    blocks: list[Element] = [
        Paragraph(_worst(draft, segments, worst[0], tested)),
        *draft.galleries("segments"),
        _segments(draft, segments, worst),
    ]
    return Section("errors", "Errors by segment", blocks)


def _opening(draft: ReportDraft, importance: RecordedFact) -> Text:
    leading: Text = () if draft.facts.helping_columns else (_NO_COLUMN_STANDS_OUT,)
    repeats = draft.render(importance.at("repeats"), "integer")
    rows = draft.render(importance.at("rows"), "integer")
    # The evaluator measures importances out of fold, and the explanation on the hold-out.
    where = "of the hold-out" if draft.facts.explanation else "outside the training folds"
    return (
        *leading,
        "Each column was shuffled ",
        *repeats,
        " times on ",
        *rows,
        f" rows {where}; its importance is how much worse ",
        draft.metric_name,
        " gets. Correlated columns share their importance, and importance does not imply causation.",
    )


def _table(draft: ReportDraft, ranked: Sequence[TypedFact[ImportanceEntry]]) -> ReportTable:
    style = draft.metric.style
    rows = [
        [
            draft.render(entry.at("column")),
            draft.render(entry.at("mean"), style),
            draft.render(entry.at("std"), style),
            ("yes" if entry.content.helps else "not significantly",),
        ]
        for entry in ranked[:_MAX_COLUMNS]
    ]
    caption = "Spread: one standard error; helps: significant after correction for the number of columns"
    return ReportTable(("Column", "Importance", "Spread", "Helps"), rows, caption, numeric=(1, 2))


def _left_out(draft: ReportDraft, importance: RecordedFact) -> list[Element]:
    return [Paragraph((draft.read(note),)) for note in items_at(importance, "notes")]


def _dependence(draft: ReportDraft) -> list[Element]:
    pictures = draft.galleries("dependence")
    if not pictures:
        return []
    text = (
        "Partial dependence: the prediction when one column is set to a value in all rows and the others keep "
        "their values. The line is the mean and the band covers most rows; a wide band means that "
        "other columns "
        "interact. Bars show the density of rows; without rows, the line is an extrapolation."
    )
    return [Paragraph((text,)), *pictures]


def _contributions(draft: ReportDraft) -> list[Element]:
    contributions = draft.facts.explanation.at("contributions") if draft.facts.explanation else None
    features = items_at(contributions, "features")
    if contributions is None or not features:
        return []
    directions: list[Text] = [
        (*draft.render(feature.at("feature")), " (more of it ", effect, ")")
        for feature in features[:_MAX_NAMED]
        if (effect := _direction(feature))
    ]
    names = [draft.render(feature.at("feature")) for feature in features[:_MAX_NAMED]]
    leading = join_texts(directions or names)
    text = (
        "SHAP values split single predictions of the tree model ",
        *draft.render(contributions.at("member")),
        " into the contributions of its features, on ",
        *draft.render(contributions.at("rows"), "integer"),
        " rows. The features that add most: ",
        *leading,
        ".",
    )
    return [Paragraph(text), *draft.galleries("contributions")]


def _direction(feature: RecordedFact) -> str:
    direction = feature.at("direction")
    # Below, the feature has no one direction, and a sentence about it would mislead.
    if direction is None or abs(direction.value) < _MIN_CORRELATION:
        return ""
    return "raises the prediction" if direction.value > 0 else "lowers the prediction"


def _worst(draft: ReportDraft, segments: RecordedFact, worst: RecordedFact, tested: Text) -> Text:
    style = _style(draft, segments)
    before, after = (
        ("it predicts ", " of the rows wrong") if style == "percent" else ("it is off by ", " on average")
    )
    return (
        "Worst where ",
        *draft.render(worst.at("column")),
        " ",
        *draft.render(worst.at("text")),
        f": there {before}",
        *draft.render(worst.at("error"), style),
        f"{after}, elsewhere ",
        *draft.render(worst.at("elsewhere"), style),
        ". Of ",
        *tested,
        " tested segments, these are worse than the rest by more than chance explains:",
    )


def segments(draft: ReportDraft) -> list[Element]:
    """Return the table of segments that are worse than the rest, or an empty list."""
    segments_fact = draft.facts.explanation.at("segments") if draft.facts.explanation else None
    worst = draft.facts.worst_segments
    return [_segments(draft, segments_fact, worst)] if segments_fact and worst else []


def _segments(draft: ReportDraft, segments: RecordedFact, worst: Sequence[RecordedFact]) -> ReportTable:
    style = _style(draft, segments)
    rows = [
        [
            (*draft.render(segment.at("column")), " ", *draft.render(segment.at("text"))),
            draft.render(segment.at("rows"), "integer"),
            draft.render(segment.at("error"), style),
            draft.interval(segment, style),
            draft.render(segment.at("elsewhere"), style),
        ]
        for segment in worst
    ]
    measure = "Predicted wrong" if style == "percent" else "Mean absolute error"
    return ReportTable(("Where", "Rows", measure, "Interval", "Elsewhere"), rows, numeric=(1, 2, 3, 4))


def _style(draft: ReportDraft, segments: RecordedFact) -> str:
    return "percent" if segments.text("measure") == "wrong" else "quantity"
