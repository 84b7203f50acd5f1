"""What the data analyst ends with, in each of its stages."""

from pydantic import BaseModel, ConfigDict, Field


class Analysis(BaseModel):
    """Stage `analysis`: what was seen. `exclude`: columns that must not be used, leaks first of all."""

    model_config = ConfigDict(extra="forbid")

    exclude: list[str] = Field(default_factory=list, max_length=500)
    notes: list[str] = Field(default_factory=list, max_length=30)


class Prepared(BaseModel):
    """Stage `features`: the name of the frame that candidates shall be fitted on."""

    model_config = ConfigDict(extra="forbid")

    frame: str = Field(min_length=1)
    notes: list[str] = Field(default_factory=list, max_length=30)


class Answer(BaseModel):
    """Stage `answer`: the last SELECT or program that answered is the answer.

    `unanswered`: why there is none, where nothing that the tables hold answers the question.
    """

    model_config = ConfigDict(extra="forbid")

    unanswered: str = Field(default="", max_length=2000)
