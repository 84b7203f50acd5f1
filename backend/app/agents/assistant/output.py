"""The output of the assistant."""

from pydantic import BaseModel, ConfigDict


class Reply(BaseModel):
    """The words that end a turn."""

    model_config = ConfigDict(extra="forbid")

    text: str
