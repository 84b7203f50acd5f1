"""Conversion of a notebook to a plain Python script."""

from collections.abc import Mapping
from typing import Any


def notebook_to_script(notebook: Mapping[str, Any]) -> str:
    """Return a runnable script with the cells of the notebook in order; prose becomes comments."""
    parts = [_cell(cell) for cell in notebook["cells"]]
    return "\n\n".join(part for part in parts if part) + "\n"


def _cell(cell: Mapping[str, Any]) -> str:
    source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
    if cell["cell_type"] == "code":
        return source.rstrip()
    # Split at every kind of line end, so that no line leaves its comment.
    return "\n".join(f"# {line}".rstrip() for line in source.splitlines())
