"""Bases that the corpora share: strict models, sources of tables, and the half of a table."""

import hashlib
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Half = Literal["tuned", "untuned"]
ColumnType = Literal["integer", "number", "text", "boolean", "date", "datetime", "time"]

# Lower case and snake case: an id is also the name of a file and of a pandas frame.
ID_PATTERN = r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$"


class StrictModel(BaseModel):
    """Base of the formats: an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PackageSource(StrictModel):
    """Public table: the package that ships it and its name there."""

    package: str = Field(min_length=1)
    item: str = Field(min_length=1)


class InventedSource(StrictModel):
    """Invented table: the domain whose exports it resembles."""

    made: str = Field(min_length=1)


def half_of(table_id: str) -> Half:
    """Half of the corpora to which a table belongs, by the parity of the SHA-256 of its id."""
    parity = int(hashlib.sha256(table_id.encode()).hexdigest(), 16) % 2
    return "tuned" if parity == 0 else "untuned"
