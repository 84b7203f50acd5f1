"""The answer of an execution in words."""

from collections.abc import Sequence
from typing import Any

from app.agents.assistant.brief import ChartAnswer, QueryAnswer
from app.counts import describe_count

MAX_STATED_CELLS = 6
"""Cells of a single row that a sentence states; more are read in the table."""
_MAX_CELL_CHARS = 200
"""Characters of a stated cell."""


def describe_answer(answer: QueryAnswer, description: str = "", readings: Sequence[str] = ()) -> str:
    """Describe the rows of a query: a single row by its cells, more by their number."""
    sentences = [_describe_rows(answer, description)]
    if answer.rows_used is not None and answer.rows_there is not None and answer.rows_used < answer.rows_there:
        sentences.append(f"It is based on {answer.rows_used:,} of {answer.rows_there:,} rows.")
    return " ".join([*sentences, *readings])


def describe_statements(answer: QueryAnswer, readings: Sequence[str] = ()) -> str:
    """Describe the changes that statements made, and the rows of the last SELECT."""
    changes = [str(change["text"]) for change in answer.changes]
    rows = [describe_answer(answer)] if answer.columns else []
    return " ".join([*changes, *rows, *readings])


def describe_chart(chart: ChartAnswer, readings: Sequence[str] = ()) -> str:
    """Describe a chart by its title, with its rows where it has few."""
    rows = describe_count(chart.row_count, "row")
    nouns = {"bar": "bar chart", "line": "line chart", "area": "area chart", "scatter": "scatter chart"}
    noun = nouns.get(chart.kind, "box plot" if chart.kind == "box" else chart.kind)
    sentences = [
        f"{chart.title}: a {noun} of {rows}." if chart.row_count else f"{chart.title}: no rows to draw."
    ]
    if chart.problem:
        sentences.append(f"{chart.problem} Its specification is kept.")
    return " ".join([*sentences, *readings])


def _describe_rows(answer: QueryAnswer, description: str) -> str:
    names = [str(column.get("name", "")) for column in answer.columns]
    if answer.row_count == 1 and answer.rows and len(names) <= MAX_STATED_CELLS:
        cells = ", ".join(
            f"{name}: {format_cell(cell)}" for name, cell in zip(names, answer.rows[0], strict=True)
        )
        return f"{_capitalise(description)}: {cells}." if description else f"{cells}."
    size = describe_count(answer.row_count, "row") if answer.row_count else "no rows"
    return f"{_capitalise(description)}: {size}." if description else f"The query gave {size}."


def format_cell(cell: Any) -> str:
    """Format a cell for a sentence: numbers with separators and six significant digits."""
    if cell is None:
        return "no value"
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        text = str(cell).removesuffix("T00:00:00")  # of a day, a month or a year
        return text if len(text) <= _MAX_CELL_CHARS else text[:_MAX_CELL_CHARS] + "…"
    if isinstance(cell, int):
        return f"{cell:,}"
    if cell and not 1e-4 <= abs(cell) < 1e15:
        return f"{cell:.6g}"
    text = f"{cell:,.6f}" if abs(cell) < 1 else f"{cell:,.4f}" if abs(cell) < 1000 else f"{cell:,.2f}"
    return text.rstrip("0").rstrip(".")


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]
