"""The answer to a question about the data: its figures in a sentence, and the table."""

import re
from collections.abc import Sequence

from app.reporting.claims import Claim
from app.reporting.document.blocks import AnswerBlock, AnswerFigure
from app.reporting.document.elements import Callout, ReportTable
from app.reporting.document.pieces import Piece, Text
from app.reporting.draft import ReportDraft
from app.reporting.evidence import RecordedFact, TypedFact, items_at
from app.reporting.fact_records import AnswerRecord
from app.reporting.pages.statement import Statement

_MAX_SENTENCE_GROUPS = 6
"""Groups listed in the headline; for more, it gives their number."""
_MAX_ROWS = 50
"""Rows of an answer in the report; the claims of more rows would outgrow the page."""
_STYLES = {"integer": "integer", "number": "exact"}
_COUNT_NAMES = re.compile(r"(?i)^(number|count|share|rank)\b")
"""Answer columns that are no amounts of the column that they name."""


def block(draft: ReportDraft) -> AnswerBlock:
    answer, recorded = make_answer(draft), draft.facts.answer
    if recorded is None:
        return AnswerBlock(answer.text, verdict=Callout("warn", ("Nothing was computed.",)))
    is_table = recorded.content.rows and (len(recorded.content.rows) > 1 or len(recorded.content.columns) > 1)
    return AnswerBlock(
        answer.text, figures=answer.figures, tables=[_table(draft, recorded)] if is_table else []
    )


def make_answer(draft: ReportDraft) -> Statement:
    """Return the answer in one sentence, with its figures."""
    answer = draft.facts.answer
    if answer is None:
        return Statement(("The question was not answered.",), [])
    columns, rows = items_at(answer, "columns"), items_at(answer, "rows")
    if not rows:
        return Statement(("No row of the data matches the question.",), [])
    if len(rows) == 1:
        statements: list[Text] = [
            (draft.read(_required(column, "name")), ": ", *_amount(draft, column, rows[0].at(place)))
            for place, column in enumerate(columns[:_MAX_SENTENCE_GROUPS])
        ]
        return Statement((*_join_statements(statements), "."), _figures(draft, columns, rows))
    if len(rows) > _MAX_SENTENCE_GROUPS or len(columns) < 2:
        count = draft.render(answer.at("row_count"), "integer")
        return Statement(("The answer has ", *count, " rows."), [])
    return Statement(_group_sentence(draft, columns, rows), _figures(draft, columns, rows))


def _join_statements(statements: Sequence[Text]) -> Text:
    return [piece for place, text in enumerate(statements) for piece in (*(("; ",) if place else ()), *text)]


def _group_sentence(draft: ReportDraft, columns: list[RecordedFact], rows: list[RecordedFact]) -> Text:
    """Return a sentence such as `mean of fare: 1st 87.5; 2nd 21.2`, for the last column by the others."""
    last = len(columns) - 1
    pieces: list[Piece] = [draft.read(_required(columns[last], "name")), ": "]
    for number, row in enumerate(rows):
        pieces += ["; "] if number else []
        for place in range(last):
            pieces += [*_cell(draft, columns[place], row.at(place)), " "]
        pieces += _cell(draft, columns[last], row.at(last))
    return (*pieces, *_unit(draft, columns[last]), ".")


def _figures(draft: ReportDraft, columns: list[RecordedFact], rows: list[RecordedFact]) -> list[AnswerFigure]:
    """Return the numbers of the sentence: of one row all, of several the last column."""
    places = range(len(columns)) if len(rows) == 1 else [len(columns) - 1]
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
    return draft.render(cell, _style(column))


def _amount(draft: ReportDraft, column: RecordedFact, cell: RecordedFact | None) -> Text:
    return (*_cell(draft, column, cell), *(_unit(draft, column) if cell else ()))


def _unit(draft: ReportDraft, column: RecordedFact) -> Text:
    name = column.text("name")
    return draft.unit(name) if column.text("type") in _STYLES and not _COUNT_NAMES.match(name) else ()


def _style(column: RecordedFact) -> str:
    """Return the claim style of a column; years and identifiers have no thousands separators."""
    kind = column.text("type")
    if kind == "integer" and re.search(r"(?i)year|yr\b|id\b", column.text("name")):
        return "plain_integer"
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
