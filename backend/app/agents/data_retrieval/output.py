"""The output of data retrieval."""

from pydantic import BaseModel, ConfigDict, Field


class Retrieved(BaseModel):
    """The session's table is fetched. `target`: column to predict. `exclude`: columns that must not be used."""

    model_config = ConfigDict(extra="forbid")

    target: str = Field(min_length=1)
    exclude: list[str] = Field(default_factory=list)
    note: str = ""
