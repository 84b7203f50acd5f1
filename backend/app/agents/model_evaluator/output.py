"""Outputs of the model evaluator, one for each of its two stages."""

from pydantic import BaseModel, ConfigDict, Field


class Verdict(BaseModel):
    """Stage `evaluation`: the chosen candidate, the request for more tuning, and cautions for the user."""

    model_config = ConfigDict(extra="forbid")

    chosen: str = Field(min_length=1)
    tune: bool = False
    beats_baseline: bool | None = None
    reason: str = ""
    cautions: list[str] = Field(default_factory=list, max_length=30)


class Tuned(BaseModel):
    """Stage `tuning`: the round is done."""

    model_config = ConfigDict(extra="forbid")

    notes: list[str] = Field(default_factory=list, max_length=30)
