"""Forecasts that are compared as an answer: the first of several series, and the periods beyond a bound."""

from collections.abc import Sequence

from app.reporting.document.blocks import AnswerFigure
from app.reporting.document.elements import ReportTable
from app.reporting.document.inline_elements import Name, Piece, Text
from app.reporting.draft import EMPTY_CELL, ReportDraft, join_texts
from app.reporting.evidence import RecordedFact, TypedFact, items_at
from app.reporting.fact_records import ForecastRecord
from app.reporting.pages.statement import Statement

MEETS = "meets_bound"
"""Field of a forecast that tells if it meets the bound (`app.modeling.forecasting.forecast_comparison`)."""
MAX_RANKED = 12
"""Series in a table of their order: as many rows as other tables of an answer have."""
MAX_COMPARED = 6
"""Series in a sentence that compares each with a bound, so that it stays one that is read."""
MAX_NAMED_PERIODS = 7
"""Periods that a sentence names: the days of a week."""
_SIDES = {">": "above ", ">=": "at least ", "<": "below ", "<=": "at most "}
_WORDS = {"sum": "total ", "mean": "mean "}
_PERIODS = {"day": "days", "month": "months", "quarter": "quarters", "year": "years"}


def ranked_statement(
    draft: ReportDraft, forecast: TypedFact[ForecastRecord], answers: Sequence[RecordedFact], style: str
) -> Statement | None:
    """State which of several series is first, and the next one; None where no order is asked for."""
    if not forecast.content.ranking or len(answers) < 2 or draft.target is None:
        return None
    extreme = "highest " if forecast.content.ranking == "most" else "lowest "
    leader, second = answers[0], answers[1]
    text: list[Piece] = [
        _label(leader),
        " is forecast to have the ",
        extreme,
        *_quantity(draft, forecast),
        ", ",
    ]
    text += [*asked_periods(draft, leader, style), ": ", *_valued(draft, leader), ". Next is ", _label(second)]
    text += [" with ", *_valued(draft, second), "."]
    if _overlap(leader, second):
        text.append(" The two intervals overlap, so which of the two is first is not certain.")
    return Statement(text, _figures(draft, answers[:MAX_RANKED], style))


def ranked_table(draft: ReportDraft, forecast: TypedFact[ForecastRecord]) -> list[ReportTable]:
    """Tabulate one number of each series in the order that is asked for."""
    answers = items_at(forecast, "answers")
    if not forecast.content.ranking or len(answers) < 2:
        return []
    rows: list[list[Text]] = [
        [(_label(answer),), *(draft.render(answer.at(name), "amount") for name in ("value", "low", "high"))]
        for answer in answers[:MAX_RANKED]
    ]
    heads: list[Text] = [(Name(forecast.text("group_column"), code=False),), (_quantity(draft, forecast))]
    return [ReportTable((), rows, numeric=(1, 2, 3), heads=[*heads, ("From",), ("To",)])]


def bound_statement(
    draft: ReportDraft, forecast: TypedFact[ForecastRecord], predictions: Sequence[RecordedFact], style: str
) -> Statement | None:
    """State in how many periods the forecast meets the bound, and in which; None without a bound."""
    comparisons = items_at(forecast, "comparisons")
    bound = forecast.at("bound", "value")
    if bound is None or not comparisons or draft.target is None:
        return None
    side = _SIDES[forecast.text("bound", "sign")]
    text: list[Piece] = []
    for place, counts in enumerate(comparisons[:MAX_COMPARED]):
        group = (" of ", _label(counts)) if counts.text("group") else ()
        opening: Text = ("; ", _label(counts)) if place else (draft.read(draft.target), *group, " is forecast")
        text += (*opening, *(() if place else (" ", side, *draft.amount(bound))))
        met_periods, periods = counts.at("met"), counts.at("periods")
        text += (" on " if style == "day" else " in ", *draft.render(met_periods, "integer"), " of ")
        text += (*draft.render(periods, "integer"), " ", _PERIODS.get(style, "periods"))
        if not place:
            text += (", ", *asked_periods(draft, counts, style))
    text.append(".")
    if len(comparisons) == 1:
        text += _named_periods(draft, forecast, predictions, comparisons[0], style)
    return Statement(text, [])


def bound_details(draft: ReportDraft) -> list[Text]:
    """Say how sure the comparison with a bound is: in how many periods the whole interval agrees with it."""
    forecast = draft.facts.forecast
    comparisons = items_at(forecast, "comparisons") if forecast else []
    # Several series have a table of the same counts.
    certain, excluded = (
        comparisons[0].at(n) if len(comparisons) == 1 else None for n in ("certain", "excluded")
    )
    if certain is None or excluded is None:
        return []
    text: Text = (
        "The whole interval of the forecast meets the bound in ",
        draft.read(certain, "integer"),
        " of these periods and misses it in ",
        draft.read(excluded, "integer"),
        "; in the others it has values on both sides.",
    )
    return [text]


def bound_table(draft: ReportDraft, forecast: TypedFact[ForecastRecord]) -> list[ReportTable]:
    """Tabulate in how many periods the forecast of each series meets the bound."""
    comparisons = items_at(forecast, "comparisons")
    if len(comparisons) < 2 or forecast.at("bound", "value") is None:
        return []
    count_names = ("met", "certain", "excluded", "periods")
    rows: list[list[Text]] = [
        [(_label(counts),), *(draft.render(counts.at(name), "integer") for name in count_names)]
        for counts in comparisons[:MAX_RANKED]
    ]
    side = _SIDES[forecast.text("bound", "sign")].capitalize()
    head: Text = (side, *draft.render(forecast.at("bound", "value"), "amount"))
    heads: list[Text] = [(Name(forecast.text("group_column"), code=False),), head]
    heads += [("Surely (whole interval)",), ("Surely not",), ("Periods",)]
    return [ReportTable((), rows, numeric=(1, 2, 3, 4), heads=heads)]


def bound_verdict(draft: ReportDraft, forecast: TypedFact[ForecastRecord], answer: RecordedFact) -> Text:
    """Say if one number of all periods meets the bound; empty without a bound."""
    meets, bound = answer.at("meets"), forecast.at("bound", "value")
    if meets is None or bound is None:
        return ()
    side = _SIDES[forecast.text("bound", "sign")].strip()
    certainty = "" if _holds(answer, "is_certain") else ", though the interval has values on both sides"
    return (f" That is {'' if meets.value else 'not '}{side} ", *draft.amount(bound), f"{certainty}.")


def meets_cells(forecast: RecordedFact, prediction: RecordedFact) -> list[Text]:
    """Return the cell that says if a forecast meets the bound; no cell without a bound."""
    if forecast.at("bound", "value") is None or prediction.at(MEETS) is None:
        return []
    return [("yes",) if _holds(prediction, MEETS) else ("no",)]


def meets_heads(draft: ReportDraft, forecast: RecordedFact, prediction: RecordedFact) -> list[Text]:
    """Return the head of the column of `meets_cells`."""
    bound = forecast.at("bound", "value")
    if bound is None or prediction.at(MEETS) is None:
        return []
    side = _SIDES[forecast.text("bound", "sign")].capitalize()
    return [(side, draft.read(bound, "amount"))]


def asked_periods(draft: ReportDraft, answer: RecordedFact, style: str) -> Text:
    """Return `1 July 2024 to 7 July 2024`, or the only period."""
    first, last = answer.at("first"), answer.at("last")
    if answer.text("first") == answer.text("last"):
        return draft.render(first, style)
    return (*draft.render(first, style), " to ", *draft.render(last, style))


def _named_periods(
    draft: ReportDraft,
    forecast: TypedFact[ForecastRecord],
    predictions: Sequence[RecordedFact],
    counts: RecordedFact,
    style: str,
) -> Text:
    """Name the fewer periods: those that meet the bound, or those that do not."""
    time, first = forecast.text("time_column"), counts.text("first")
    span = [entry for entry in predictions if entry.text(time) >= first and entry.at(MEETS) is not None]
    for is_met, opening in ((True, " It is so on "), (False, " It is not on ")):
        entries = [entry for entry in span if _holds(entry, MEETS) == is_met]
        if entries and len(entries) <= MAX_NAMED_PERIODS and 2 * len(entries) <= len(span):
            text = opening if style == "day" else opening.replace(" on ", " in ")
            return (text, *join_texts([draft.render(entry.at(time), style) for entry in entries]), ".")
    return ()


def _holds(fact: RecordedFact, name: str) -> bool:
    flag = fact.at(name)
    return flag is not None and bool(flag.value)


def _label(answer: RecordedFact) -> Name:
    return Name(answer.text("group"), code=False)


def _quantity(draft: ReportDraft, forecast: TypedFact[ForecastRecord]) -> Text:
    """Return `total revenue`, without a second `total` before a target that is one."""
    word = _WORDS.get(forecast.text("answer"), "")
    target = draft.facts.problem.text("target") if draft.facts.problem else ""
    is_said = target.startswith((word, "number of ")) if word else True
    return (*(() if is_said else (word,)), *draft.render(draft.target))


def _valued(draft: ReportDraft, answer: RecordedFact) -> Text:
    value, low, high = answer.at("value"), answer.at("low"), answer.at("high")
    if value is None:
        return EMPTY_CELL
    bounds: Text = (
        (" (", draft.read(low, "amount"), " to ", draft.read(high, "amount"), ")") if low and high else ()
    )
    return (*draft.amount(value), *bounds)


def _overlap(first: RecordedFact, second: RecordedFact) -> bool:
    ends = [first.at("low"), first.at("high"), second.at("low"), second.at("high")]
    values = [end.value for end in ends if end is not None and isinstance(end.value, int | float)]
    return len(values) == len(ends) and values[0] <= values[3] and values[2] <= values[1]


def _figures(draft: ReportDraft, answers: Sequence[RecordedFact], style: str) -> list[AnswerFigure]:
    figures = []
    for answer in answers:
        value, low, high, last = (answer.at(name) for name in ("value", "low", "high", "last"))
        if value is not None:
            ends = (draft.read(low, "amount") if low else None, draft.read(high, "amount") if high else None)
            time = draft.read(last, style) if last else None
            figures.append(
                AnswerFigure("ranked_forecast", draft.read(value, "amount"), draft.target_unit, *ends, time)
            )
    return figures
