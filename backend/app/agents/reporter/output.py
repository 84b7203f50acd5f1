"""What the reporter ends with."""

from pydantic import BaseModel, ConfigDict, Field


class Reported(BaseModel):
    """The report is written. `headline`: what came out, in one or two sentences without new numbers."""

    model_config = ConfigDict(extra="forbid")

    headline: str = Field(default="", max_length=2000)
