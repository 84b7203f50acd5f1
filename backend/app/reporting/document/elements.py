"""Elements of a section: paragraphs, lists, tables, figures and code. Renderers only walk them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from app.reporting.document.inline_elements import NameReference, Text

Tone = Literal["good", "warn", "info"]


@dataclass(frozen=True)
class Paragraph:
    text: Text
    kind: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True)
class Bullets:
    items: Sequence[Text]
    kind: Literal["bullets"] = "bullets"


@dataclass(frozen=True)
class Quote:
    """A person's words as an element."""

    text: Text
    kind: Literal["quote"] = "quote"


@dataclass(frozen=True)
class Callout:
    """A highlighted paragraph."""

    tone: Tone
    text: Text
    kind: Literal["callout"] = "callout"


@dataclass(frozen=True)
class Lead:
    """The first sentence of an answer, in large type."""

    text: Text
    kind: Literal["lead"] = "lead"


@dataclass(frozen=True)
class Subheading:
    """A heading inside a section."""

    text: str
    kind: Literal["subheading"] = "subheading"


@dataclass(frozen=True)
class ReportTable:
    """`numeric`: places of the columns that are aligned right. `marked`: rows to stand out. `heads`: instead of
    `columns` where their names come from data. `file`: one beside the report with all rows, which the caption
    names."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Text]]
    caption: str = ""
    numeric: Sequence[int] = ()
    marked: Sequence[int] = ()
    kind: Literal["table"] = "table"
    heads: Sequence[Text] = ()
    file: str = ""

    @property
    def caption_parts(self) -> tuple[str, str, str]:
        """The caption before the name of its file, the name, and the rest."""
        return self.caption.partition(self.file) if self.file else (self.caption, "", "")


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
    kind: Literal["gallery"] = "gallery"


@dataclass(frozen=True)
class Listing:
    """Source code as it was recorded, line by line."""

    source: NameReference
    kind: Literal["listing"] = "listing"


Element = Annotated[
    Paragraph | Bullets | Quote | Callout | Lead | Subheading | ReportTable | Gallery | Listing,
    Field(discriminator="kind"),
]


@dataclass(frozen=True)
class Section:
    id: str
    title: str
    elements: Sequence[Element]
