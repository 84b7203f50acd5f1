"""A document made of sections, as renderers take it: the pages for a reader, and a folded appendix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.reporting.claims import Claim
from app.reporting.document.elements import Section
from app.reporting.document.inline_elements import Name, Text


@dataclass(frozen=True)
class ProvenanceRow:
    """One cited call, for the appendix."""

    step: int
    node: str
    call: str
    tool: str
    agent: str


@dataclass(frozen=True)
class Document:
    title: Text
    subtitle: Text
    sections: Sequence[Section]
    claims: Sequence[Claim]
    calls: Sequence[ProvenanceRow] = ()
    appendix: Sequence[Section] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the sections, their claims, and the calls that they cite."""
        return {
            "version": 1,
            "title": to_plain(self.title),
            "subtitle": to_plain(self.subtitle),
            "sections": [to_plain(section) for section in (*self.sections, *self.appendix)],
            "claims": [claim.to_json() for claim in self.claims],
            "calls": [to_plain(row) for row in self.calls],
        }


def to_plain(value: Any) -> Any:
    """Return a part of a document as JSON; a claim becomes a reference to the list of claims."""
    if isinstance(value, Claim):
        return {"claim": value.id}
    if isinstance(value, Name):
        return {"name": value.text, "code": value.code}
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if isinstance(value, Sequence):
        return [to_plain(item) for item in value]
    return {name: to_plain(item) for name, item in vars(value).items()}
