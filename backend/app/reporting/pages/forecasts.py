"""The forecast as an answer: its first and last period in a sentence, all periods in a table."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

from app.reporting.document.blocks import AnswerFigure
from app.reporting.document.elements import ReportTable
from app.reporting.document.inline_elements import Name, Piece, Text
from app.reporting.draft import EMPTY_CELL, ReportDraft
from app.reporting.evidence import RecordedFact, TypedFact, items_at
from app.reporting.fact_records import ForecastRecord
from app.reporting.pages.forecast_comparisons import (
    bound_statement,
    bound_table,
    bound_verdict,
    meets_cells,
    meets_heads,
    ranked_statement,
    ranked_table,
)
from app.reporting.pages.scores import outlook
from app.reporting.pages.statement import Statement

MAX_ANSWER_ROWS = 31
"""Periods in the table of the answer, a month of days; the appendix and forecasts.csv have more."""
MAX_TABLE_SERIES = 4
"""Series in the table of the answer: more columns do not fit a page."""
_MAX_NAMED_SERIES = 2
"""Series in the first sentence, so that it stays a sentence."""
_FILE = "forecasts.csv"


def answer_by_forecast(draft: ReportDraft) -> Statement | None:
    """State the forecast of the next period, and of the last one; None without a forecast of amounts."""
    forecast = draft.facts.forecast
    predictions = items_at(forecast, "forecasts")
    if forecast is None or not predictions or not _is_amount(predictions[0]) or draft.target is None:
        return None
    style = _style(forecast, predictions)
    if answers := items_at(forecast, "answers"):
        ranked = ranked_statement(draft, forecast, answers, style)
        return ranked or _answer_for_all(draft, forecast, answers, style)
    return bound_statement(draft, forecast, predictions, style) or _state_ends(draft, forecast, predictions)


def _state_ends(
    draft: ReportDraft, forecast: TypedFact[ForecastRecord], predictions: Sequence[RecordedFact]
) -> Statement:
    """State the forecasts of the next period and of the last one, of the first series."""
    style = _style(forecast, predictions)
    groups = _by_series(forecast, predictions)
    is_last = forecast.text("answer") == "last"
    text: list[Piece] = []
    figures: list[AnswerFigure] = []
    for label, series in groups[:MAX_TABLE_SERIES]:
        figures += [
            _figure(draft, forecast, prediction, style, label) for prediction in series[:MAX_ANSWER_ROWS]
        ]
    for label, series in groups[:_MAX_NAMED_SERIES]:
        text += (" ",) if text else ()
        # A forecast volatility of a price is no price.
        quantity = outlook(draft).replace("the ", "The ", 1) or _article(draft)
        text += (quantity, *draft.render(draft.target), *((" of ", label) if label else ()), " ")
        ends = series[-1:] if is_last else series if len(series) < 2 else (series[0], series[-1])
        for place, prediction in enumerate(ends):
            text += ("; ",) if place else ()
            text += _period_text(draft, forecast, prediction, style)
        text.append(".")
    return Statement((*text, *_unnamed_series(draft, forecast, len(groups))), figures)


def _unnamed_series(draft: ReportDraft, forecast: RecordedFact, groups: int) -> Text:
    """Say how many series there are, where the sentence names some of them."""
    count = forecast.at("series")
    if count is None or groups <= _MAX_NAMED_SERIES:
        return ()
    where = "The table" if groups <= MAX_TABLE_SERIES else _FILE
    return (f" {where} has all ", draft.read(count, "integer"), " series.")


_FIGURES = ("number of ", "total ", "mean ", "maximum ")
"""Beginnings of names of series that are made of rows, which are phrases rather than names of columns."""


def _article(draft: ReportDraft) -> str:
    """Return the article before a target whose name is a phrase: `The number of rows on 24 June`."""
    is_phrase = draft.facts.problem is not None and draft.facts.problem.text("target").startswith(_FIGURES)
    return "The " if is_phrase else ""


_ANSWER_WORDS = {"sum": "total ", "mean": "mean ", "maximum": "highest ", "minimum": "lowest "}


def _answer_for_all(
    draft: ReportDraft, forecast: TypedFact[ForecastRecord], answers: Sequence[RecordedFact], style: str
) -> Statement:
    """State one number for all periods that are asked for: their sum, mean, highest or lowest."""
    word = _ANSWER_WORDS.get(forecast.text("answer"), "")
    # The periods of `total price` are totals already, and their sum is no total of totals.
    is_said = (
        word != "" and draft.facts.problem is not None and draft.facts.problem.text("target").startswith(word)
    )
    opening = _article(draft) if is_said else word.capitalize()
    text: list[Piece] = []
    figures: list[AnswerFigure] = []
    for answer in answers[:MAX_ANSWER_ROWS]:
        first, last, value = answer.at("first"), answer.at("last"), answer.at("value")
        low, high = answer.at("low"), answer.at("high")
        if first is None or last is None or value is None or draft.target is None:
            continue
        group = (" of ", Name(answer.text("group"), code=False)) if answer.text("group") else ()
        if len(figures) < _MAX_NAMED_SERIES:
            text += (" ",) if text else ()
            text += (opening, draft.read(draft.target), *group, ", ")
            text += (*draft.render(first, style), " to ", *draft.render(last, style), ": ")
            text += draft.amount(value)
            if low and high:
                text += (" (", draft.read(low, "amount"), " to ", draft.read(high, "amount"), ")")
            text += (".", *bound_verdict(draft, forecast, answer))
        figures.append(
            AnswerFigure(
                f"{word}forecast",
                draft.read(value, "amount"),
                draft.target_unit,
                draft.read(low, "amount") if low else None,
                draft.read(high, "amount") if high else None,
                draft.read(last, style),
                (Name(answer.text("group"), code=False),) if answer.text("group") else (),
            )
        )
    return Statement((*text, *_unnamed_series(draft, forecast, len(answers))), figures)


_FIRST_ROWS = f"The first forecasts; {_FILE} has all"


def forecast_table(draft: ReportDraft) -> list[ReportTable]:
    """Tabulate the forecasts by period: bounds in columns of their own, or a column for each series."""
    forecast = draft.facts.forecast
    predictions = items_at(forecast, "forecasts")
    if forecast is None or len(predictions) < 2 or not _is_amount(predictions[0]):
        return []
    style = _style(forecast, predictions)
    series = _by_series(forecast, _asked_periods(forecast, predictions))
    table = _series_table if forecast.text("group_column") else _period_table
    forecasts = table(draft, forecast, series, style)
    forecast_rows = replace(forecasts, caption=_FIRST_ROWS, file=_FILE) if _is_longer(series) else forecasts
    return [*ranked_table(draft, forecast), *bound_table(draft, forecast), forecast_rows]


def _asked_periods(
    forecast: TypedFact[ForecastRecord], predictions: Sequence[RecordedFact]
) -> Sequence[RecordedFact]:
    """Return the forecasts of the periods that are asked for; those of the days before only lead there."""
    answers = items_at(forecast, "answers")
    first = answers[0].text("first") if answers else ""
    periods = [
        prediction for prediction in predictions if prediction.text(forecast.text("time_column")) >= first
    ]
    return periods or predictions


def _is_longer(series: Sequence[tuple[Name | None, Sequence[RecordedFact]]]) -> bool:
    return len(series) > MAX_TABLE_SERIES or len(series[0][1]) > MAX_ANSWER_ROWS


def _period_table(
    draft: ReportDraft,
    forecast: RecordedFact,
    series: Sequence[tuple[Name | None, Sequence[RecordedFact]]],
    style: str,
) -> ReportTable:
    predictions = series[0][1]
    bounds = ("low", "high") if predictions[0].at("low") is not None else ()
    rows: list[list[Text]] = []
    for prediction in predictions[:MAX_ANSWER_ROWS]:
        row: list[Text] = [draft.render(prediction.at(forecast.text("time_column")), style)]
        row += [draft.render(prediction.at(name), "amount") for name in ("prediction", *bounds)]
        rows.append([*row, *meets_cells(forecast, prediction)])
    heads: list[Text] = [("Period",), ("Forecast", *_unit_after_comma(draft))]
    heads += [("From",), ("To",)] if bounds else []
    numeric = tuple(range(1, len(heads)))
    return ReportTable((), rows, numeric=numeric, heads=[*heads, *meets_heads(draft, forecast, predictions[0])])


def _series_table(
    draft: ReportDraft,
    forecast: RecordedFact,
    series: Sequence[tuple[Name | None, Sequence[RecordedFact]]],
    style: str,
) -> ReportTable:
    """Return a row for each period and a column for each series, with bounds in brackets."""
    columns = series[:MAX_TABLE_SERIES]
    rows: list[list[Text]] = []
    for place, prediction in enumerate(series[0][1][:MAX_ANSWER_ROWS]):
        # By place: series that end at different times have no common periods, and the first one names the rows.
        cells = [_bounded(draft, parts[place]) if place < len(parts) else EMPTY_CELL for _, parts in columns]
        rows.append([draft.render(prediction.at(forecast.text("time_column")), style), *cells])
    heads: list[Text] = [
        ("Period",),
        *((label, *_unit_after_comma(draft)) if label else () for label, _ in columns),
    ]
    return ReportTable((), rows, numeric=tuple(range(1, len(heads))), heads=heads)


def _bounded(draft: ReportDraft, prediction: RecordedFact) -> Text:
    low, high = prediction.at("low"), prediction.at("high")
    bounds: Text = (
        (" (", draft.read(low, "amount"), " to ", draft.read(high, "amount"), ")") if low and high else ()
    )
    return (*draft.render(prediction.at("prediction"), "amount"), *bounds)


def _unit_after_comma(draft: ReportDraft) -> Text:
    return (",", *draft.target_unit) if draft.target_unit else ()


_MONTHLY_STYLES = {1: "month", 3: "quarter", 12: "year"}
"""Style of a period by the months between rows."""


def _style(forecast: TypedFact[ForecastRecord], predictions: Sequence[RecordedFact]) -> str:
    months = forecast.content.months_apart
    times = [prediction.text(forecast.text("time_column")) for prediction in predictions]
    # The interval of the history decides where it is known: few forecasts may not show it.
    return _MONTHLY_STYLES.get(months, "month") if months else period_style(times)


def period_style(times: Sequence[str]) -> str:
    """Return the style of claims that shows these times: years, quarters, months, days or minutes."""
    moments = [datetime.fromisoformat(time) for time in times if time]
    if any(moment.hour or moment.minute for moment in moments):
        return "minute"
    months = [moment.year * 12 + moment.month for moment in moments]
    steps = {after - before for before, after in pairwise(months) if after > before}
    # Several times in one month, or a single time: only the day tells them apart.
    if len(set(months)) < len(set(moments)) or len(set(moments)) < 2 or not steps:
        return "day"
    # Last days of months differ, but none is before the 28th.
    if len({moment.day for moment in moments}) > 1 and any(moment.day < 28 for moment in moments):
        return "day"
    return _MONTHLY_STYLES.get(min(steps), "month")


def _is_amount(prediction: RecordedFact) -> bool:
    value = prediction.at("prediction")
    return value is not None and isinstance(value.value, int | float) and prediction.at("probabilities") is None


def _by_series(
    forecast: RecordedFact, predictions: Sequence[RecordedFact]
) -> list[tuple[Name | None, list[RecordedFact]]]:
    group = forecast.text("group_column")
    if not group:
        return [(None, list(predictions))]
    series: dict[str, list[RecordedFact]] = {}
    for prediction in predictions:
        series.setdefault(prediction.text(group), []).append(prediction)
    return [(Name(name, code=False), rows) for name, rows in series.items()]


def _period_text(
    draft: ReportDraft, forecast: TypedFact[ForecastRecord], prediction: RecordedFact, style: str
) -> Text:
    """Return `in May 2024: 1,240 euros (1,100 to 1,390)`."""
    time, value = prediction.at(forecast.text("time_column")), prediction.at("prediction")
    low, high = prediction.at("low"), prediction.at("high")
    preposition = "on " if style == "day" else "at " if style == "minute" else "in "
    text: list[Piece] = [preposition, *draft.render(time, style), ": "]
    text += draft.amount(value) if value else ()
    text += (" (", draft.read(low, "amount"), " to ", draft.read(high, "amount"), ")") if low and high else ()
    return text


def _figure(
    draft: ReportDraft,
    forecast: TypedFact[ForecastRecord],
    prediction: RecordedFact,
    style: str,
    label: Name | None,
) -> AnswerFigure:
    value, time = prediction.at("prediction") or prediction, prediction.at(forecast.text("time_column"))
    low, high = prediction.at("low"), prediction.at("high")
    return AnswerFigure(
        "forecast",
        draft.read(value, "amount"),
        draft.target_unit,
        draft.read(low, "amount") if low else None,
        draft.read(high, "amount") if high else None,
        draft.read(time, style) if time else None,
        (label,) if label else (),
    )
