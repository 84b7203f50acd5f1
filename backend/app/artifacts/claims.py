"""Claims of a report, and those that rest on a recorded call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue


class ClaimSource(BaseModel):
    """A recorded value: step, call, and JSON Pointer into the result of the call."""

    model_config = ConfigDict(frozen=True)

    step: int
    call: str = Field(examples=["tool:0.0"])
    pointer: str = Field(examples=["/metrics/roc_auc/value"])


class ClaimView(BaseModel):
    """A number or name of the report: the `operation` on the recorded values of `sources`."""

    model_config = ConfigDict(frozen=True)

    id: str
    text: str = Field(description="As the report shows it.", examples=["0.833"])
    value: JsonValue
    operation: str = Field(description="`read`: the recorded value itself.", examples=["read"])
    sources: list[ClaimSource]


@dataclass(frozen=True)
class ClaimSelection:
    """Claims with a source of this step and call, at this pointer or below it."""

    step: int | None = None
    call: str | None = None
    pointer: str = ""

    def select(self, claims: Sequence[ClaimView]) -> list[ClaimView]:
        return [claim for claim in claims if any(map(self._matches, claim.sources))]

    def _matches(self, source: ClaimSource) -> bool:
        return (
            self.step in (None, source.step)
            and self.call in (None, source.call)
            and f"{source.pointer}/".startswith(f"{self.pointer}/")
        )


def read_claims(document: Mapping[str, Any]) -> list[ClaimView]:
    """Read the claims of `report.json`."""
    return [
        ClaimView(
            id=claim["id"],
            text=claim["text"],
            value=claim["value"],
            operation=claim["operation"],
            sources=[ClaimSource.model_validate(source) for source in (claim, *claim.get("operands", ()))],
        )
        for claim in document.get("claims", ())
    ]
