"""Response models of comparisons of sessions."""

from uuid import UUID

from pydantic import BaseModel, Field, JsonValue

from app.sessions.lifecycle import SessionStatus
from app.sessions.result_schemas import CandidateScoreView, HoldoutScoreView
from app.sessions.stored_schemas import ForkView


class ComparedSession(BaseModel):
    """The result of a compared session. `final_looks`: final evaluations of its family so far."""

    id: UUID
    goal: str
    name: str = Field(description="By default the goal.")
    status: SessionStatus
    forked_from: UUID | None
    fork: ForkView | None
    last_step: int
    final_looks: int
    headline: str | None
    model_name: str | None
    metric: str | None
    holdout: HoldoutScoreView | None
    leaderboard: list[CandidateScoreView]


class DifferenceView(BaseModel):
    """A difference, with its value in each of the two sessions and the step that it comes from there."""

    kind: str = Field(examples=["setting"])
    name: str = Field(examples=["metric"])
    first: JsonValue = None
    second: JsonValue = None
    first_step: int | None = None
    second_step: int | None = None


class MetricDifference(BaseModel):
    """A metric of the second session minus that of the first, and both scores on the same rows.

    `better`: which session is better beyond chance.
    """

    first: float | None
    second: float | None
    value: float | None
    low: float | None
    high: float | None
    better: UUID | None


class HoldoutComparison(BaseModel):
    """The difference on the rows of the hold-out that both models predicted.

    `reason`: why rows cannot be paired; `metrics` is then empty. `reason_session`: the session that has no rows
    to pair, if it is about one of them. `level`: that of each interval, with which all
    pairs of the family are covered together in 95 %.
    """

    rows: int = 0
    reason: str | None = None
    reason_session: UUID | None = None
    level: float | None = None
    method: str | None = None
    metrics: dict[str, MetricDifference] = Field(default_factory=dict)


class PairView(BaseModel):
    """Two sessions: their last common step (0 if there is none), and what differs since."""

    first: UUID
    second: UUID
    common_step: int
    common_node: str | None
    differences: list[DifferenceView]
    holdout: HoldoutComparison


class ComparisonView(BaseModel):
    """Sessions in the order of the request, and the first of them beside each of the others."""

    sessions: list[ComparedSession]
    pairs: list[PairView]
