"""Outputs of the data analyst, one for each of its stages."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.json_types import JsonScalar


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
    """Stage `answer`: the last SELECT or program that answered is the answer, and `text` says it in words.

    `text`: what the user reads first, in the format that was asked for, to the letter. Each figure in it is one
    of a recorded result, rounded as the question asks. `values`: the figures that were asked for, by name.
    `unanswered`: the reason why there is no answer, if the tables do not hold one.
    """

    model_config = ConfigDict(extra="forbid")

    text: str = Field(default="", max_length=8000)
    values: dict[Annotated[str, Field(min_length=1, max_length=100)], JsonScalar] = Field(
        default_factory=dict, max_length=50
    )
    unanswered: str = Field(default="", max_length=2000)
