"""Notes on the rows above those of a table: titles, labels of columns, and units."""

from collections.abc import Sequence

from app.computations.uploads.column_types import MAX_EXAMPLE_CHARS
from app.computations.uploads.dialect import Dialect

_MAX_SHOWN_TITLES = 3
"""Lines above the table that a note shows."""
_MAX_NOTE_CHARS = 300
"""Characters of a note that lists what columns are called."""


def describe_titles(dialect: Dialect) -> list[str]:
    """Name the lines above the table that are left out; none where they are empty."""
    titles = [" ".join(" ".join(cells).split()) for cells in dialect.titles if cells]
    if not titles:
        return []
    preview = ", ".join(repr(title[:MAX_EXAMPLE_CHARS]) for title in titles[:_MAX_SHOWN_TITLES])
    what = (
        "The line above the table is no row" if len(titles) == 1 else f"{len(titles)} lines above are no rows"
    )
    return [f"{what} of the table ({preview}); left out."]


def describe_lower_rows(dialect: Dialect, names: Sequence[str]) -> list[str]:
    """Name the rows of labels and of units below the names of the columns."""
    rows = [(labels, "describes the columns") for labels in dialect.labels[:_MAX_SHOWN_TITLES]]
    rows += [(dialect.units, "has units")] if dialect.units else []
    notes = []
    for cells, content in rows:
        pairs = zip(names, cells, strict=False)
        preview = ", ".join(f"{name}: {cell[:MAX_EXAMPLE_CHARS]}" for name, cell in pairs if cell)
        preview = preview if len(preview) < _MAX_NOTE_CHARS else preview[:_MAX_NOTE_CHARS] + " ..."
        notes.append(f"The row below the header {content} ({preview}); it is no row of the table.")
    return notes
