"""The output of the reporter."""

from pydantic import BaseModel, ConfigDict, Field


class Reported(BaseModel):
    """The report is written. `headline`: the outcome in one or two sentences without new numbers."""

    model_config = ConfigDict(extra="forbid")

    headline: str = Field(default="", max_length=2000)
