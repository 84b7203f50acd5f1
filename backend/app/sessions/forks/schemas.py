"""Request and response models of forks."""

from typing import Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from app.modeling.problem.metrics import MetricName
from app.sessions.schemas import ColumnName, ErrorCosts, Preferences, SessionCreated, Text

MAX_STEP = 1000
"""Steps of a session, the bound of the runner on supersteps."""
MAX_NOTE_CHARS = 4000
"""Characters of a note, as many as a request for another plan may have."""


class _ForkInput(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ForkPoint(_ForkInput):
    """Exactly one of `step` and `question`."""

    step: int | None = Field(
        default=None, ge=1, le=MAX_STEP, description="The first step that the fork runs itself."
    )
    question: Text | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Key of a question, to be answered in another way.",
        examples=["1.ask:1"],
    )

    @model_validator(mode="after")
    def _is_one_point(self) -> Self:
        if (self.step is None) == (self.question is None):
            raise ValueError("name one point: either `step` or `question`")
        return self


class ForkSettings(_ForkInput):
    """Settings of the plan to change. Those that are left out stay as they were recorded."""

    leave_out: list[ColumnName] = Field(
        default_factory=list, max_length=500, description="Columns not to use, besides those left out before."
    )
    metric: MetricName | None = Field(default=None, description="Metric that candidates are compared by.")
    families: list[Text] | None = Field(
        default=None, max_length=20, description="The only families of models to fit.", examples=[["ridge"]]
    )
    stages: list[Text] | None = Field(default=None, max_length=20, description="The stages of the plan.")
    costs: ErrorCosts | None = None


class ForkChange(_ForkInput):
    """The change of a fork. Without any field the fork runs as its source did."""

    settings: ForkSettings | None = None
    preferences: Preferences | None = Field(
        default=None, description="Preferences to change. Those that are not sent stay as they were."
    )
    note: Text | None = Field(
        default=None,
        min_length=3,
        max_length=MAX_NOTE_CHARS,
        description="A wish in plain words, which every agent reads after the goal.",
        examples=["Leave out the postcode."],
    )
    answer: JsonValue = Field(default=None, description="The answer to the question that the fork begins at.")

    @property
    def has_answer(self) -> bool:
        """Tell an answer of null from none."""
        return "answer" in self.model_fields_set


class ForkCreate(_ForkInput):
    at: ForkPoint = Field(examples=[{"step": 4}])
    change: ForkChange = Field(
        default_factory=ForkChange, examples=[{"settings": {"leave_out": ["postcode"], "metric": "f1"}}]
    )


class ForkStep(BaseModel):
    step: int
    node: str


class ForkPreview(BaseModel):
    """A fork that was checked and not made. `rerun`: the steps that its source had from the point on.

    `estimated_s`: working time of these in the source, in seconds; null if it did not get there. A change may
    lead to other steps. `metrics`: those that `settings.metric` can name at the point.
    """

    copied: list[ForkStep]
    rerun: list[ForkStep]
    estimated_s: float | None
    notes: list[str] = Field(default_factory=list)
    metrics: list[MetricName] = Field(default_factory=list)


class ForkCreated(SessionCreated):
    """A new fork. `notes`: sentences about parts of the change without an effect, or with another one."""

    forked_from: UUID
    notes: list[str] = Field(default_factory=list)
