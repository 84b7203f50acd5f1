"""What the model trainer ends with."""

from pydantic import BaseModel, ConfigDict, Field


class Trained(BaseModel):
    """Candidates are fitted. `notes`: what is worth knowing about them, in plain sentences."""

    model_config = ConfigDict(extra="forbid")

    notes: list[str] = Field(default_factory=list, max_length=30)
