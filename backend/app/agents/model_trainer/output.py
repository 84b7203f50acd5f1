"""The output of the model trainer."""

from pydantic import BaseModel, ConfigDict, Field


class Trained(BaseModel):
    """The candidates are fitted. `notes`: remarks on them, in plain sentences."""

    model_config = ConfigDict(extra="forbid")

    notes: list[str] = Field(default_factory=list, max_length=30)
