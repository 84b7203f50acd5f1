"""What a question about the data was answered with, and how."""

import re

from app.reporting.document import Block, Bullets, Callout, Name, Paragraph, Piece, ReportTable, Section, Text
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.evidence import RecordedFact, items_at

_MAX_SENTENCE_GROUPS = 6
"""Groups that a sentence names; of more it says how many there are."""
_MAX_ROWS = 50
_STYLES = {"integer": "integer", "number": "quantity"}


def section(draft: ReportDraft) -> Section:
    answer = draft.facts.answer
    blocks: list[Block] = [Paragraph(headline(draft))]
    if answer is None:
        blocks = [Callout("warn", headline(draft))]
    elif items_at(answer, "rows") and (len(answer.value["rows"]) > 1 or len(answer.value["columns"]) > 1):
        blocks.append(_table(draft, answer))
    return Section("answer", "Answer", [*blocks, *(Paragraph((remark,)) for remark in draft.remarks)])


def derivation(draft: ReportDraft) -> Section | None:
    """From which rows it comes, how words were read, and the SELECT or program behind it."""
    answer = draft.facts.answer
    if answer is None:
        return None
    blocks: list[Block] = []
    readings = [(draft.read(reading),) for reading in items_at(answer, "readings")]
    if readings:
        blocks += [Paragraph(("How the question was read:",)), Bullets(readings)]
    blocks += _rows_used(draft, answer)
    language = "This SELECT" if answer.text("language") == "sql" else "This program"
    lines = [(Name(line),) for line in answer.text("code").splitlines() if line.strip()]
    blocks += [Paragraph((f"{language} gave the answer:",)), Bullets(lines)]
    return Section("way", "How it was found", blocks)


def headline(draft: ReportDraft) -> Text:
    """The answer in one sentence."""
    answer = draft.facts.answer
    if answer is None:
        return ("The question was not answered.",)
    columns, rows = items_at(answer, "columns"), items_at(answer, "rows")
    if not rows:
        return ("No row of the data answers it.",)
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
    """`mean of fare: 1st 87.5; 2nd 21.2`, by the first figure after the groups."""
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
    """A year is no quantity."""
    kind = column.text("type")
    if kind == "integer" and re.search(r"(?i)year|yr\b|id\b", column.text("name")):
        return "plain_integer"
    return _STYLES.get(kind, "text")


def _table(draft: ReportDraft, answer: RecordedFact) -> ReportTable:
    columns = items_at(answer, "columns")
    rows = [
        [_cell(draft, column, row.at(place)) for place, column in enumerate(columns)]
        for row in items_at(answer, "rows")[:_MAX_ROWS]
    ]
    numeric = [place for place, column in enumerate(columns) if column.text("type") in _STYLES]
    caption = (
        "The first rows; the others lie in the session's table" if len(rows) < answer.value["row_count"] else ""
    )
    heads = [(draft.read(_required(column, "name")),) for column in columns]
    return ReportTable((), rows, caption, numeric=numeric, heads=heads)


def _rows_used(draft: ReportDraft, answer: RecordedFact) -> list[Block]:
    used_count, row_count = answer.at("rows_used"), answer.at("rows_there")
    if used_count is None or row_count is None:
        return [Paragraph(("On how many rows it rests cannot be told from how it was found.",))]
    tables = join_texts([(draft.read(name),) for name in items_at(answer, "tables")])
    counts = (draft.read(used_count, "integer"), " of ", draft.read(row_count, "integer"))
    return [Paragraph(("It rests on ", *counts, " rows of ", *tables, "."))]
