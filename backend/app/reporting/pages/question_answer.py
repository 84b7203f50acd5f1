"""The answer to a question about the data: its figures in a sentence, and the table."""

import re
from collections.abc import Sequence

from app.recorded_call import Json
from app.reporting.claims import Claim
from app.reporting.document.blocks import AnswerBlock, AnswerFigure
from app.reporting.document.elements import Callout, ReportTable
from app.reporting.document.inline_elements import Piece, Text
from app.reporting.draft import ReportDraft
from app.reporting.evidence import RecordedFact, TypedFact, items_at
from app.reporting.fact_records import AnswerRecord
from app.reporting.first_days import FIRST_DAYS, MIDNIGHT
from app.reporting.pages.analyst_answer import make_stated_answer, split_lines
from app.reporting.pages.statement import Statement

_MAX_SENTENCE_GROUPS = 6
"""Groups listed in the headline; for more, it gives their number."""
_MAX_SENTENCE_CELLS = 40
"""Cells of a single row in the headline, which is all that a reader of the headline gets of it."""
_MAX_ROWS = 50
"""Rows of an answer in the report; the claims of more rows would outgrow the page."""
_STYLES = {"integer": "integer", "number": "as_rounded"}
_FIGURES = ("count", "share", "figure")
_MEAN_NAMES = re.compile(r"(?i)^(mean|average|avg)\b")
"""Answer columns whose decimals come from a division, and say no more than their first digits."""
_COUNT_NAMES = re.compile(r"(?i)^(number|count|share|rank)\b")
"""Answer columns that are no amounts of the column that they name."""


def block(draft: ReportDraft) -> AnswerBlock:
    answer, recorded = make_answer(draft), draft.facts.answer
    if recorded is None:
        return AnswerBlock(answer.text, verdict=Callout("warn", ("Nothing was computed.",)))
    # A single cell is in the sentence already.
    is_table = recorded.content.rows and (len(recorded.content.rows) > 1 or len(recorded.content.columns) > 1)
    first, *details = split_lines(answer.text)
    return AnswerBlock(
        first,
        details,
        figures=answer.figures,
        tables=[_table(draft, recorded)] if is_table else [],
        pictures=draft.pictures("answer_chart"),
    )


def make_answer(draft: ReportDraft) -> Statement:
    """Return the answer in one sentence, with its figures."""
    answer = draft.facts.answer
    if words := make_stated_answer(draft):
        return words
    if answer is None:
        return Statement(("The question was not answered.",), [])
    columns, rows = items_at(answer, "columns"), items_at(answer, "rows")
    if not rows:
        return Statement(("No row of the data matches the question.",), [])
    if len(rows) == 1:
        statements: list[Text] = [
            (draft.read(_required(column, "name")), ": ", *_amount(draft, column, rows[0].at(place)))
            for place, column in enumerate(columns[:_MAX_SENTENCE_CELLS])
            if _measure(draft, column) != "verdict"  # there is no other group to compare with
        ]
        return Statement((*_join_statements(statements), "."), _figures(draft, columns, rows))
    # A single column has no names for its rows, so that a list of them says little.
    if len(rows) > _MAX_SENTENCE_GROUPS or len(columns) < 2:
        count = draft.render(answer.at("row_count"), "integer")
        return Statement(("The answer has ", *count, " rows."), [])
    return Statement(_group_sentence(draft, columns, rows), _figures(draft, columns, rows))


def _join_statements(statements: Sequence[Text]) -> Text:
    return [piece for place, text in enumerate(statements) for piece in (*(("; ",) if place else ()), *text)]


def _group_sentence(draft: ReportDraft, columns: list[RecordedFact], rows: list[RecordedFact]) -> Text:
    """Return a sentence such as `mean of fare: 1st 87.5; 2nd 21.2`, for one column by its groups."""
    main = _main_column(draft, columns)
    key_places = [place for place, column in enumerate(columns) if _names_rows(draft, column, place, main)]
    pieces: list[Piece] = [*_verdict(draft, columns, rows), draft.read(_required(columns[main], "name")), ": "]
    for number, row in enumerate(rows):
        pieces += ["; "] if number else []
        for place in key_places:
            pieces += [*_cell(draft, columns[place], row.at(place)), " "]
        pieces += _amount(draft, columns[main], row.at(main))
    return (*pieces, ".")


def _verdict(draft: ReportDraft, columns: Sequence[RecordedFact], rows: Sequence[RecordedFact]) -> Text:
    """Return yes or no to a comparison of two groups, of which the first is the one that is asked about."""
    place = next((place for place, column in enumerate(columns) if _measure(draft, column) == "verdict"), None)
    verdict = rows[0].at(place) if place is not None and len(rows) == 2 else None
    return () if verdict is None else ("Yes: " if verdict.value is True else "No: ",)


def _main_column(draft: ReportDraft, columns: Sequence[RecordedFact]) -> int:
    """Return the place of the column that the question is about.

    A plan computes the figure before those that support it, such as the number of rows behind a share; of a
    SELECT nothing is known but the habit of writing the figure last.
    """
    figures = [place for place, column in enumerate(columns) if _measure(draft, column) in _FIGURES]
    return figures[0] if figures else len(columns) - 1


def _names_rows(draft: ReportDraft, column: RecordedFact, place: int, main: int) -> bool:
    return place < main if _measure(draft, column) is None else _measure(draft, column) == "key"


def _measure(draft: ReportDraft, column: RecordedFact) -> str | None:
    """Return the measure that the plan of the answer gives a column, None for answers without a plan."""
    answer = draft.facts.answer
    return answer.content.measures.get(column.text("name")) if answer else None


def _figures(draft: ReportDraft, columns: list[RecordedFact], rows: list[RecordedFact]) -> list[AnswerFigure]:
    """Return the numbers of the sentence: of one row all, of several the main column."""
    places = range(len(columns)) if len(rows) == 1 else [_main_column(draft, columns)]
    return [
        AnswerFigure("answer", value, _unit(draft, columns[place]))
        for row in rows
        for place in places
        for value in _cell(draft, columns[place], row.at(place))
        if isinstance(value, Claim) and columns[place].text("type") in _STYLES
    ]


def _required(fact: RecordedFact, name: str) -> RecordedFact:
    return fact.at(name) or fact


def _cell(draft: ReportDraft, column: RecordedFact, cell: RecordedFact | None) -> Text:
    period = _period_style(column.text("name"), cell.value) if cell else None
    return draft.render(cell, period or _style(draft, column))


def _period_style(name: str, value: Json) -> str | None:
    """Return the style of a moment that stands for a day, or for the period that its column is named by."""
    if not (isinstance(value, str) and value.endswith(MIDNIGHT)):
        return None
    first_day = FIRST_DAYS.get(name)
    is_period = first_day is not None and value.removesuffix(MIDNIGHT).endswith(first_day)
    return name if is_period else "moment"


def _amount(draft: ReportDraft, column: RecordedFact, cell: RecordedFact | None) -> Text:
    return (*_cell(draft, column, cell), *(_unit(draft, column) if cell else ()))


def _unit(draft: ReportDraft, column: RecordedFact) -> Text:
    name = column.text("name")
    is_amount = _measure(draft, column) not in ("count", "share") and not _COUNT_NAMES.match(name)
    return draft.unit(name) if column.text("type") in _STYLES and is_amount else ()


def _style(draft: ReportDraft, column: RecordedFact) -> str:
    """Return the claim style of a column; years and identifiers have no thousands separators."""
    kind = column.text("type")
    if kind in _STYLES and _measure(draft, column) == "share":
        return "share"
    if kind == "integer" and re.search(r"(?i)year|yr\b|id\b", column.text("name")):
        return "plain_integer"
    if kind == "number" and _unit(draft, column) and draft.is_money(column.text("name")):
        return "money"
    if kind == "number" and _MEAN_NAMES.match(column.text("name")):
        return "mean"
    return _STYLES.get(kind, "text")


def _table(draft: ReportDraft, answer: TypedFact[AnswerRecord]) -> ReportTable:
    columns = items_at(answer, "columns")
    rows = [
        [_cell(draft, column, row.at(place)) for place, column in enumerate(columns)]
        for row in items_at(answer, "rows")[:_MAX_ROWS]
    ]
    numeric = [place for place, column in enumerate(columns) if column.text("type") in _STYLES]
    caption = "The first rows only" if len(rows) < answer.content.row_count else ""
    heads = [(draft.read(_required(column, "name")), *_unit_head(draft, column)) for column in columns]
    return ReportTable((), rows, caption, numeric=numeric, heads=heads)


def _unit_head(draft: ReportDraft, column: RecordedFact) -> Text:
    unit = _unit(draft, column)
    return (",", *unit) if unit else ()
