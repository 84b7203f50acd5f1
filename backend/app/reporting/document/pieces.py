"""Inline pieces of a document.

There are three kinds. Prose (`str`) is part of the program and holds no numeral. A claim shows a recorded
value. A name quotes data or a person: it is untrusted, escaped by every renderer, and checked to occur in the
journal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.reporting.claims import Claim


@dataclass(frozen=True)
class Name:
    """Quoted text: a column, a file, a model, a metric (`code`), or a person's words."""

    text: str
    code: bool = True


Piece = str | Claim | Name
Text = Sequence[Piece]


def plain_text(text: Text) -> str:
    """Return the text without markup, for a window title or a log line."""
    return "".join(piece if isinstance(piece, str) else piece.text for piece in text)
