"""The forecast section: forecasts after the last row, and the error by number of rows ahead."""

from collections.abc import Sequence

from app.reporting.document.elements import Element, Paragraph, ReportTable, Section
from app.reporting.document.inline_elements import Name, Text
from app.reporting.draft import EMPTY_CELL, ReportDraft
from app.reporting.evidence import RecordedFact, TypedFact, items_at
from app.reporting.fact_records import ForecastRecord

_BOUNDS = (("From", "low"), ("To", "high"))


def section(draft: ReportDraft) -> Section | None:
    forecast = draft.facts.forecast
    blocks: list[Element] = []
    if forecast is not None and forecast.content.rows:
        blocks += [
            Paragraph(_opening(draft, forecast)),
            _expected(draft, forecast),
            *draft.galleries("forecast"),
        ]
    blocks += [*_by_step(draft), *draft.galleries("error_by_step")]
    return Section("forecast", "The forecast", blocks) if blocks else None


def _opening(draft: ReportDraft, forecast: TypedFact[ForecastRecord]) -> Text:
    several = forecast.content.series > 1
    first, last = (draft.render(forecast.at(name), "moment") for name in ("first", "last"))
    text: Text = (
        *(
            ("For ", *first)
            if forecast.content.first == forecast.content.last
            else ("From ", *first, " to ", *last)
        ),
        ", after the last row",
        *((" of each of ", *draft.render(forecast.at("series"), "integer"), " series") if several else ()),
        ": ",
        *draft.render(forecast.at("rows"), "integer"),
        " forecast" if forecast.content.rows == 1 else " forecasts",
        ", also in ",
        Name("forecasts.csv"),
        ".",
    )
    level = forecast.at("level")
    if level is None:
        return text
    return (*text, " Intervals are made to cover ", draft.read(level, "whole_percent"), " of the rows.")


def _expected(draft: ReportDraft, forecast: RecordedFact) -> ReportTable:
    predictions = items_at(forecast, "forecasts")
    time, group = forecast.text("time_column"), forecast.text("group_column")
    columns = _columns(draft, predictions)
    rows: list[list[Text]] = []
    for prediction in predictions:
        row: list[Text] = [draft.render(prediction.at(group))] if group else []
        row += [
            draft.render(prediction.at(time), "moment"),
            draft.render(prediction.at("rows_ahead"), "integer"),
        ]
        rows.append([*row, *(_cell(draft, prediction.at(*path), style) for _, path, style in columns)])
    group_head: list[Text] = [("Series",)] if group else []
    heads = [*group_head, ("When",), ("Rows ahead",), *(head for head, _, _ in columns)]
    first = 2 if group else 1
    return ReportTable((), rows, "Forecasts", numeric=tuple(range(first, len(heads))), heads=heads)


def _columns(
    draft: ReportDraft, predictions: Sequence[RecordedFact]
) -> list[tuple[Text, tuple[str, ...], str]]:
    """Return head, path and style of each forecast column; for two classes, the positive probability."""
    positive = draft.facts.problem.at("positive_class") if draft.facts.problem else None
    if predictions and positive is not None and "probabilities" in predictions[0].value:
        return [(("Probability of ", draft.read(positive)), ("probabilities", str(positive.value)), "percent")]
    bounds = [
        ((head,), (key,), "quantity") for head, key in _BOUNDS if predictions and key in predictions[0].value
    ]
    return [(("Forecast",), ("prediction",), "quantity"), *bounds]


def _cell(draft: ReportDraft, fact: RecordedFact | None, style: str) -> Text:
    if fact is None:
        return EMPTY_CELL
    return draft.render(fact, style if isinstance(fact.value, int | float) else "text")


def _by_step(draft: ReportDraft) -> list[Element]:
    """Tabulate the score of each step beside the reference forecasts, and the interval coverage."""
    steps = items_at(draft.facts.final, "by_step")
    if not steps:
        return []
    style = draft.metric.style
    # All steps have the same references; without any, the baseline takes their column.
    reference_names = list(steps[0].value["references"]) or ["baseline"]
    bounded = steps[0].at("coverage") is not None
    heads: list[Text] = [("Rows ahead",), ("Forecasts",), (draft.metric_name,)]
    heads += [(Name(name, code=False),) for name in reference_names]
    heads += [("Within the interval",)] if bounded else []
    rows: list[list[Text]] = []
    for step in steps:
        row = [draft.render(step.at("rows_ahead"), "integer"), draft.render(step.at("rows"), "integer")]
        row += [draft.score(step.at("score"), style)]
        row += [draft.score(step.at("references", name) or step.at(name), style) for name in reference_names]
        row += [draft.render(step.at("coverage", "coverage", "value"), "percent")] if bounded else []
        rows.append(row)
    title = "Score by number of rows ahead, on the hold-out"
    return [ReportTable((), rows, title, numeric=tuple(range(len(heads))), heads=heads)]
