"""The derivation of an answer to a question: its interpretation, the rows used, and the SELECT or program."""

from app.reporting.document.elements import Bullets, Element, Paragraph, Section
from app.reporting.document.inline_elements import Name, Text
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.evidence import items_at


def section(draft: ReportDraft) -> Section | None:
    answer = draft.facts.answer
    if answer is None:
        return None
    elements: list[Element] = []
    language = "This SELECT" if answer.content.language == "sql" else "This program"
    lines = [(Name(line),) for line in answer.content.code.splitlines() if line.strip()]
    elements += [Paragraph((f"{language} computed the answer:",)), Bullets(lines)]
    return Section("way", "Derivation", elements)


def rows_used(draft: ReportDraft) -> list[Text]:
    """State how many rows of which tables the answer is computed from."""
    answer = draft.facts.answer
    if answer is None:
        return []
    used_count, row_count = answer.at("rows_used"), answer.at("rows_there")
    if used_count is None or row_count is None:
        return [("The number of rows used is not known for an answer by a program.",)]
    tables = join_texts([(draft.read(name),) for name in items_at(answer, "tables")])
    counts = (draft.read(used_count, "integer"), " of ", draft.read(row_count, "integer"))
    return [("Computed from ", *counts, " rows of ", *tables, ".")]
