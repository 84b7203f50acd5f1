"""A report as Markdown (GitHub's dialect). Claims are links to their row in the provenance table."""

import re
from collections.abc import Sequence

from app.reporting.claims import Claim
from app.reporting.document.elements import (
    Bullets,
    Callout,
    Element,
    Gallery,
    Lead,
    Listing,
    Paragraph,
    Picture,
    Quote,
    ReportTable,
    Section,
    Subheading,
)
from app.reporting.document.inline_elements import Name, Text
from app.reporting.document.sectioned import Document
from app.reporting.safe_text import make_legible

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|~>$&:@/])")
_TONES = {"good": "Good", "warn": "Caution", "info": "Note"}


def render(document: Document) -> str:
    """Render the document; figures are referenced as `<name>.png` beside it."""
    parts = [f"# {inline(document.title)}", inline(document.subtitle)]
    parts += [render_section(section) for section in document.sections]
    if document.appendix:
        parts += [_FOLD_BEGINS, *(render_section(section) for section in document.appendix), _FOLD_ENDS]
    parts.append(_provenance(document))
    return "\n\n".join(part for part in parts if part) + "\n"


_FOLD_BEGINS = "<details>\n<summary>Appendix: how it was found, for whoever checks it</summary>"
_FOLD_ENDS = "</details>"


def inline(text: Text) -> str:
    return "".join(_piece(piece) for piece in text)


def code_span(text: str) -> str:
    """Return a code span for any text, valid in tables too: its fence exceeds every run of backticks."""
    # A bar ends a cell of a table even within code.
    text = make_legible(text).replace("|", "\\|") or " "
    runs = [len(run) for run in re.findall(r"`+", text)]
    fence = "`" * (max(runs, default=0) + 1)
    pad = " " if runs else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def escape_text(text: str) -> str:
    """Escape a text of a person or of data: no markup, no HTML, no link."""
    # An entity, since renderers differ in whether a backslash stops a tag.
    return _SPECIAL.sub(r"\\\1", make_legible(text)).replace("<", "&lt;")


def _piece(piece: str | Claim | Name) -> str:
    if isinstance(piece, Claim):
        return f"[{escape_text(piece.text)}](#{piece.id})"
    if isinstance(piece, Name):
        return code_span(piece.text) if piece.code else escape_text(piece.text)
    return _prose(piece)


def _prose(text: str) -> str:
    # Prose is our own: only what stands in it by chance is escaped.
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_").replace("<", "&lt;")


def render_section(section: Section) -> str:
    blocks = [_block(block) for block in section.elements]
    return "\n\n".join([f"## {_prose(section.title)}", *blocks])


def _block(block: Element) -> str:
    match block:
        case Paragraph():
            return inline(block.text)
        case Bullets():
            return "\n".join(f"- {inline(item)}" for item in block.items)
        case Quote():
            return f"> {inline(block.text)}"
        case Lead():
            return f"**{inline(block.text)}**"
        case Subheading():
            return f"**{_prose(block.text)}**"
        case Callout():
            return f"> **{_TONES[block.tone]}.** {inline(block.text)}"
        case ReportTable():
            return _table(block)
        case Gallery():
            return "\n\n".join(_picture(picture) for picture in block.pictures)
        case Listing():
            return _listing(block.source.text)


def _listing(source: str) -> str:
    lines = [make_legible(line) for line in source.split("\n")]
    runs = [len(run) for line in lines for run in re.findall(r"`+", line)]
    # Longer than any run of backticks in the code, which could otherwise end the listing.
    fence = "`" * max(3, max(runs, default=0) + 1)
    return "\n".join([fence, *lines, fence])


def _picture(picture: Picture) -> str:
    return f"![{_prose(picture.title)}]({picture.name}.png)\n\n*{_prose(picture.caption)}*"


def _table(table: ReportTable) -> str:
    heads = [inline(head) for head in table.heads] or [_prose(name) for name in table.columns]
    rules = ["---:" if place in table.numeric else "---" for place in range(len(heads))]
    lines = [_row(heads), _row(rules)]
    for place, row in enumerate(table.rows):
        cells = [inline(cell) for cell in row]
        if place in table.marked and cells:
            cells[0] = f"**{cells[0]}**"
        lines.append(_row(cells))
    if table.caption:
        before, file, after = table.caption_parts
        link = f"[{_prose(file)}]({file})" if file else ""
        lines += ["", f"*{_prose(before)}{link}{_prose(after)}*"]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _provenance(report: Document) -> str:
    names = {(row.step, row.call): row for row in report.calls}
    lines = [
        "## Provenance",
        "",
        "Every number above links here: the step and the call that produced it, and its place in the record.",
        "",
        _row(["Claim", "Shown", "Step", "Call", "Recorded by", "Place", "How"]),
        _row(["---"] * 7),
    ]
    for claim in report.claims:
        for source in claim.sources:
            row = names[source.step, source.call]
            anchor = f'<a id="{claim.id}"></a>{claim.id}' if source is claim.sources[0] else ""
            cells = [
                anchor,
                escape_text(claim.text),
                str(source.step),
                code_span(source.call),
                code_span(row.tool),
            ]
            lines.append(_row([*cells, code_span(source.pointer or "/"), claim.operation]))
    return "\n".join(lines)
