"""`report.json`: its JSON Schema, and reports read from it."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from app.reporting.claims import Claim, Source
from app.reporting.document.blocks import Block
from app.reporting.document.inline_elements import Text
from app.reporting.document.report import VERSION, Report
from app.reporting.document.sectioned import ProvenanceRow


class SourceJson(BaseModel):
    """A place in the journal: step, call, and JSON pointer into its result."""

    step: int
    call: str
    pointer: str


class ClaimJson(SourceJson):
    """A shown value: the `operation` on the value at this place and on `operands`, in a `style`."""

    id: str
    text: str
    value: Any
    style: str
    operation: str
    operands: list[SourceJson] = []


class ReportJson(BaseModel):
    """`report.json` of version 2: blocks in a fixed order, each kind once, none without content."""

    version: Literal[2]
    title: Text
    blocks: list[Annotated[Block, Field(discriminator="kind")]]
    claims: list[ClaimJson]
    calls: list[ProvenanceRow] = []


class OldReport(ValueError):
    """The report has another version; its HTML and Markdown are stored beside it."""


def load_report(stored: Mapping[str, Any]) -> Report:
    """Read a report from `report.json`. Raises OldReport for other versions, ValidationError for other JSON."""
    if stored.get("version") != VERSION:
        raise OldReport(f"The report has version {stored.get('version')!r}, not {VERSION}.")
    claims = [_read_claim(ClaimJson.model_validate(claim)) for claim in stored.get("claims", ())]
    context = {"claims": {claim.id: claim for claim in claims}}
    report = ReportJson.model_validate(stored, context=context)
    return Report(report.title, report.blocks, claims, report.calls)


def _read_claim(claim: ClaimJson) -> Claim:
    sources = tuple(Source(place.step, place.call, place.pointer) for place in (claim, *claim.operands))
    return Claim(claim.id, claim.text, claim.value, claim.style, claim.operation, sources)
