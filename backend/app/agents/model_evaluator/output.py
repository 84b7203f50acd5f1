"""Outputs of the model evaluator, one for each of its two stages."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Verdict(BaseModel):
    """Stage `evaluation`: the chosen candidate, the request for more tuning, and cautions for the user.

    `back_to`: the stage that the work goes back to, for what `reason` says; only where `can_return` is true.
    """

    model_config = ConfigDict(extra="forbid")

    chosen: str = Field(min_length=1)
    tune: bool = False
    back_to: Literal["feature_engineering", "model_training"] | None = None
    beats_baseline: bool | None = None
    reason: str = ""
    cautions: list[str] = Field(default_factory=list, max_length=30)


class Tuned(BaseModel):
    """Stage `tuning`: the round is done."""

    model_config = ConfigDict(extra="forbid")

    notes: list[str] = Field(default_factory=list, max_length=30)
