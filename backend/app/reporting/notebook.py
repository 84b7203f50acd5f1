"""A report as a notebook: its pages as prose, then the cells that reproduce the session."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from app.reporting import markdown
from app.reporting.claims import Claim
from app.reporting.document.blocks import NotebookCell, ReproductionBlock
from app.reporting.document.elements import Gallery, Section
from app.reporting.document.inline_elements import Name
from app.reporting.document.report import Report

_CELL_TYPES = {"prose": "markdown", "code": "code"}
_PAGES = ("understanding", "answer", "evidence")
"""Pages of the report that stand before the cells."""


def render(report: Report) -> dict[str, Any] | None:
    """Return the notebook as nbformat 4.5 JSON; None if the report holds no cells."""
    block = next((block for block in report.blocks if isinstance(block, ReproductionBlock)), None)
    if block is None or not block.cells:
        return None
    sections = [section for section in report.lay_out().sections if section.id in _PAGES]
    title = f"# {markdown.inline(_without_links(report.title))}"
    prose = "\n\n".join(
        [title, *(markdown.render_section(_without_links(_in_words(part))) for part in sections)]
    )
    cells = [NotebookCell("prose", prose), *block.cells]
    return {
        # Ids by place, not by chance, so that equal reports give equal files.
        "cells": [{"id": f"cell-{place}", **_to_json(cell)} for place, cell in enumerate(cells)],
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _to_json(cell: NotebookCell) -> dict[str, Any]:
    result: dict[str, Any] = {"cell_type": _CELL_TYPES[cell.kind], "metadata": {}, "source": cell.source}
    return result if cell.kind == "prose" else {**result, "execution_count": None, "outputs": []}


def _in_words(section: Section) -> Section:
    """Return a section without figures, whose files do not lie beside a notebook."""
    elements = [element for element in section.elements if not isinstance(element, Gallery)]
    return replace(section, elements=elements)


def _without_links(value: Any) -> Any:
    """Return a part of a document with claims and names as escaped text: a notebook has no list of claims."""
    if isinstance(value, Claim | Name):
        return Name(value.text, code=False)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_links(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{part.name: _without_links(getattr(value, part.name)) for part in fields(value)}
        )
    return value
