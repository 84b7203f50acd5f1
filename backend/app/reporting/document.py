"""A report as data: sections of blocks, blocks of inline pieces; the renderers only walk it.

There are three kinds of inline piece. Prose (`str`) is part of the program and holds no numeral. A claim shows
a recorded value. A name quotes data or a person: it is untrusted, escaped by every renderer, and checked to
occur in the journal.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from app.reporting.claims import Claim


@dataclass(frozen=True)
class Name:
    """Quoted text: a column, a file, a model, a metric (`code`), or a person's words."""

    text: str
    code: bool = True


Piece = str | Claim | Name
Text = Sequence[Piece]


@dataclass(frozen=True)
class Paragraph:
    text: Text
    kind: str = "paragraph"


@dataclass(frozen=True)
class Bullets:
    items: Sequence[Text]
    kind: str = "bullets"


@dataclass(frozen=True)
class Quote:
    """A person's words as a block."""

    text: Text
    kind: str = "quote"


@dataclass(frozen=True)
class Callout:
    """A highlighted paragraph. `tone`: `good`, `warn` or `info`."""

    tone: str
    text: Text
    kind: str = "callout"


@dataclass(frozen=True)
class Tile:
    label: str
    value: Text
    note: Text = ()


@dataclass(frozen=True)
class Tiles:
    tiles: Sequence[Tile]
    kind: str = "tiles"


@dataclass(frozen=True)
class ReportTable:
    """`numeric`: places of the columns that are aligned right. `marked`: rows to stand out. `heads`: instead of
    `columns` where their names come from data."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Text]]
    caption: str = ""
    numeric: Sequence[int] = ()
    marked: Sequence[int] = ()
    kind: str = "table"
    heads: Sequence[Text] = ()


@dataclass(frozen=True)
class Picture:
    """A figure artifact by its file's name and digest; `step` and `call` drew it."""

    name: str
    title: str
    caption: str
    digest: str
    step: int
    call: str
    wide: bool = True


@dataclass(frozen=True)
class Gallery:
    """Figures one after the other; two that are not wide may stand side by side."""

    pictures: Sequence[Picture]
    kind: str = "gallery"


@dataclass(frozen=True)
class Listing:
    """Source code as it was recorded, line by line."""

    source: Name
    kind: str = "listing"


Block = Paragraph | Bullets | Quote | Callout | Tiles | ReportTable | Gallery | Listing


@dataclass(frozen=True)
class Section:
    id: str
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class ProvenanceRow:
    """One cited call, for the appendix."""

    step: int
    node: str
    call: str
    tool: str
    agent: str


def plain_text(text: Text) -> str:
    """Return the text without markup, for a window title or a log line."""
    return "".join(piece if isinstance(piece, str) else piece.text for piece in text)


@dataclass(frozen=True)
class Report:
    title: Text
    subtitle: Text
    sections: Sequence[Section]
    claims: Sequence[Claim]
    calls: Sequence[ProvenanceRow] = field(default_factory=tuple)

    def to_json(self) -> dict[str, Any]:
        """`report.json`: the document, its claims, and the calls that they cite."""
        return {
            "version": 1,
            "title": _plain(self.title),
            "subtitle": _plain(self.subtitle),
            "sections": [_plain(section) for section in self.sections],
            "claims": [claim.to_json() for claim in self.claims],
            "calls": [_plain(row) for row in self.calls],
        }


def _plain(value: Any) -> Any:
    if isinstance(value, Claim):
        return {"claim": value.id}
    if isinstance(value, Name):
        return {"name": value.text, "code": value.code}
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return {name: _plain(item) for name, item in vars(value).items()}
