"""A report as one self-contained HTML page: no script, no outside resource, everything from data escaped."""

import base64
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from app.reporting.claims import Claim
from app.reporting.document.inline_elements import Name, Text, plain_text
from app.reporting.document.sectioned import Document, ProvenanceRow
from app.reporting.safe_text import make_legible

_HERE = Path(__file__).parent
_STYLE = (_HERE / "page.css").read_text(encoding="utf-8")
# Read at import, so that a sandbox cell needs no access to package files.
_PAGE = Environment(
    autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
).from_string((_HERE / "page.html").read_text(encoding="utf-8"))


def render(document: Document, figures: Mapping[str, bytes]) -> str:
    """`figures`: SVG bytes by figure name; a picture without bytes shows its caption only."""
    calls = {(row.step, row.call): row for row in document.calls}
    return _PAGE.render(
        report=document,
        title=plain_text(document.title),
        style=Markup(_STYLE),  # noqa: S704 - a file of the package, nothing from data
        calls=calls,
        inline=lambda text: _inline(text, calls),
        legible=make_legible,
        images={name: _data_uri(svg) for name, svg in figures.items()},
    )


def _inline(text: Text, calls: Mapping[tuple[int, str], ProvenanceRow]) -> Markup:
    return Markup("").join(_piece(piece, calls) for piece in text)


def _piece(piece: str | Claim | Name, calls: Mapping[tuple[int, str], ProvenanceRow]) -> Markup:
    if isinstance(piece, Claim):
        first = piece.sources[0]
        tool = calls[first.step, first.call].tool
        title = f"Step {first.step}, {tool}, {first.pointer or '/'}"
        return Markup('<a class="claim" href="#{}" title="{}">{}</a>').format(
            piece.id, make_legible(title), make_legible(piece.text)
        )
    if isinstance(piece, Name):
        tag = "code" if piece.code else "span"
        return Markup('<{0} class="name">{1}</{0}>').format(tag, make_legible(piece.text))
    return escape(piece)


def _data_uri(svg: bytes) -> str:
    """Return a data URI: unlike inline markup, an image runs no scripts, and ids of figures cannot clash."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
