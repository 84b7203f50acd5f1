"""The section that answers a question about the data, and its derivation."""

import re

from app.reporting.document import Block, Bullets, Callout, Name, Paragraph, Piece, ReportTable, Section, Text
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.evidence import RecordedFact, TypedFact, items_at
from app.reporting.records import AnswerRecord

_MAX_SENTENCE_GROUPS = 6
"""Groups listed in the headline; for more, it gives their number."""
_MAX_ROWS = 50
"""Rows of an answer in the report; the claims of more rows would outgrow the page."""
_STYLES = {"integer": "integer", "number": "quantity"}


def section(draft: ReportDraft) -> Section:
    answer = draft.facts.answer
    blocks: list[Block] = [Paragraph(headline(draft))]
    if answer is None:
        blocks = [Callout("warn", headline(draft))]
    elif answer.content.rows and (len(answer.content.rows) > 1 or len(answer.content.columns) > 1):
        blocks.append(_table(draft, answer))
    return Section("answer", "Answer", [*blocks, *(Paragraph((remark,)) for remark in draft.remarks)])


def derivation(draft: ReportDraft) -> Section | None:
    """Show the interpretation of the question, the rows used, and the SELECT or program."""
    answer = draft.facts.answer
    if answer is None:
        return None
    blocks: list[Block] = []
    readings = [(draft.read(reading),) for reading in items_at(answer, "readings")]
    if readings:
        blocks += [Paragraph(("Interpretation of the question:",)), Bullets(readings)]
    blocks += _rows_used(draft, answer)
    language = "This SELECT" if answer.content.language == "sql" else "This program"
    lines = [(Name(line),) for line in answer.content.code.splitlines() if line.strip()]
    blocks += [Paragraph((f"{language} computed the answer:",)), Bullets(lines)]
    return Section("way", "Derivation", blocks)


def headline(draft: ReportDraft) -> Text:
    """Return the answer in one sentence."""
    answer = draft.facts.answer
    if answer is None:
        return ("The question was not answered.",)
    columns, rows = items_at(answer, "columns"), items_at(answer, "rows")
    if not rows:
        return ("No row of the data matches the question.",)
    if len(rows) == 1:
        statements: list[Text] = [
            (draft.read(_required(column, "name")), " is ", *_cell(draft, column, rows[0].at(place)))
            for place, column in enumerate(columns[:_MAX_SENTENCE_GROUPS])
        ]
        return (*join_texts(statements), ".")
    if len(rows) > _MAX_SENTENCE_GROUPS or len(columns) < 2:
        count = draft.render(answer.at("row_count"), "integer")
        return ("The answer has ", *count, " rows.")
    return _group_sentence(draft, columns, rows)


def _group_sentence(draft: ReportDraft, columns: list[RecordedFact], rows: list[RecordedFact]) -> Text:
    """Return a sentence such as `mean of fare: 1st 87.5; 2nd 21.2`, for the last column by the others."""
    last = len(columns) - 1
    pieces: list[Piece] = [draft.read(_required(columns[last], "name")), ": "]
    for number, row in enumerate(rows):
        pieces += ["; "] if number else []
        for place in range(last):
            pieces += [*_cell(draft, columns[place], row.at(place)), " "]
        pieces += _cell(draft, columns[last], row.at(last))
    return (*pieces, ".")


def _required(fact: RecordedFact, name: str) -> RecordedFact:
    return fact.at(name) or fact


def _cell(draft: ReportDraft, column: RecordedFact, cell: RecordedFact | None) -> Text:
    return draft.render(cell, _style(column))


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
    heads = [(draft.read(_required(column, "name")),) for column in columns]
    return ReportTable((), rows, caption, numeric=numeric, heads=heads)


def _rows_used(draft: ReportDraft, answer: RecordedFact) -> list[Block]:
    used_count, row_count = answer.at("rows_used"), answer.at("rows_there")
    if used_count is None or row_count is None:
        return [Paragraph(("The number of rows used is not known for an answer by a program.",))]
    tables = join_texts([(draft.read(name),) for name in items_at(answer, "tables")])
    counts = (draft.read(used_count, "integer"), " of ", draft.read(row_count, "integer"))
    return [Paragraph(("Computed from ", *counts, " rows of ", *tables, "."))]
