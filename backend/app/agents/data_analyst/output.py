"""Outputs of the data analyst, one for each of its stages."""

from pydantic import BaseModel, ConfigDict, Field


class Analysis(BaseModel):
    """Stage `analysis`: notes on the data. `exclude`: columns that must not be used, leaks in particular."""

    model_config = ConfigDict(extra="forbid")

    exclude: list[str] = Field(default_factory=list, max_length=500)
    notes: list[str] = Field(default_factory=list, max_length=30)


class Prepared(BaseModel):
    """Stage `features`: the name of the frame to fit candidates on."""

    model_config = ConfigDict(extra="forbid")

    frame: str = Field(min_length=1)
    notes: list[str] = Field(default_factory=list, max_length=30)


class Answer(BaseModel):
    """Stage `answer`: the last SELECT or program that answered is the answer.

    `unanswered`: the reason why there is no answer, if the tables do not hold one.
    """

    model_config = ConfigDict(extra="forbid")

    unanswered: str = Field(default="", max_length=2000)
