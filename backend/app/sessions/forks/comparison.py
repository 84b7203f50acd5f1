"""Comparison of sessions: what they recorded, and the difference on the rows of their hold-out."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple
from uuid import UUID

from app.db.former_field_names import current_result
from app.db.pool import Database
from app.errors import Conflict, InvalidInput
from app.json_types import JsonValue
from app.modeling.facts.conversion import parse_facts
from app.sandbox.computation_runner import ComputationRunner
from app.sandbox.exchange.contract import Computation, Limits
from app.sessions.fork_record import read_fork
from app.sessions.forks.comparison_schemas import (
    ComparedSession,
    ComparisonView,
    DifferenceView,
    HoldoutComparison,
    MetricDifference,
    PairView,
)
from app.sessions.forks.recorded_session import (
    Difference,
    RecordedAnswer,
    RecordedSession,
    StoredArtifact,
    TimedStep,
    find_common_step,
)
from app.sessions.lifecycle import SessionStatus
from app.sessions.queries import make_not_found_error
from app.sessions.result_schemas import ResultSummary
from app.sessions.schemas import STUDY
from app.sessions.statements import FORKS
from app.sessions.stored_schemas import ForkView

MIN_SESSIONS, MAX_SESSIONS = 2, 5
"""Sessions of one comparison: five leaderboards fit side by side, and four pairs are computed in seconds."""
MAX_NAME_LENGTH = 80
"""Characters of a session's name in a sentence: a goal may have thousands."""
CELL_LIMITS = Limits(time_s=60.0)
"""A thousand resamples of the largest hold-out take about a second for each metric."""

FindDifferences = Callable[[RecordedSession, RecordedSession], Sequence[Difference]]


class ComparedRow(NamedTuple):
    """JSON: `preferences`, `fork`, `result`, `steps`, `artifacts` and `answers`."""

    id: UUID
    class_: str
    goal: str
    name: str
    preferences: str
    seed: int
    status: str
    has_ended: bool
    forked_from: UUID | None
    family_id: UUID
    final_looks: int
    fork: str | None
    result: str | None
    steps: str
    artifacts: str
    answers: str


@dataclass(frozen=True)
class PairedScores:
    """`paired_facts.PairFacts` as it is read."""

    rows: int
    reason: str | None
    level: float | None
    method: str | None
    metrics: Mapping[str, Mapping[str, float | None]]
    scores: Mapping[str, Mapping[str, float | None]]
    better: Mapping[str, str | None]


@dataclass(frozen=True)
class SessionComparison:
    """Compares sessions of the graph that `find_differences` belongs to.

    `outputs`: name of the artifact with the outputs for the rows of the hold-out.
    """

    db: Database
    computer: ComputationRunner
    find_differences: FindDifferences
    outputs: str

    async def compare(self, owner: UUID, ids: Sequence[UUID]) -> ComparisonView:
        """Compare the first session with each of the others.

        Raises InvalidInput for too few, too many or repeated sessions, NotFound for one of nobody or another
        owner, and Conflict for one that is no study.
        """
        if not MIN_SESSIONS <= len(ids) <= MAX_SESSIONS or len(set(ids)) < len(ids):
            raise InvalidInput(
                "sessions_invalid",
                f"Name {MIN_SESSIONS} to {MAX_SESSIONS} different sessions.",
                field="sessions",
            )
        rows = await self.db.rows(FORKS.read_compared, list(ids), owner)
        sessions = {row["id"]: _read(ComparedRow(**row)) for row in rows}
        for session_id in ids:
            if session_id not in sessions:
                # In the order of the request, so that the first unknown id is the one that is named.
                raise make_not_found_error(session_id)
        first, *others = [sessions[session_id] for session_id in ids]
        holdouts = await self._compare_holdouts(first, others)
        return ComparisonView(
            sessions=[_summarise(session) for session in (first, *others)],
            pairs=[
                self._make_pair(first, other, holdout) for other, holdout in zip(others, holdouts, strict=True)
            ],
        )

    def _make_pair(
        self, first: RecordedSession, second: RecordedSession, holdout: HoldoutComparison
    ) -> PairView:
        common = find_common_step(first, second)
        return PairView(
            first=first.id,
            second=second.id,
            common_step=common.seq if common else 0,
            common_node=common.node if common else None,
            differences=[
                DifferenceView(**asdict(difference)) for difference in self.find_differences(first, second)
            ],
            holdout=holdout,
        )

    async def _compare_holdouts(
        self, first: RecordedSession, others: Sequence[RecordedSession]
    ) -> list[HoldoutComparison]:
        """Compare by rows where both have outputs; in the order of `others`."""
        reasons = [self._find_obstacle(first) or self._find_obstacle(other) for other in others]
        members = [first, *(other for other, reason in zip(others, reasons, strict=True) if reason is None)]
        # One cell for all pairs: it reads the files of the first session once.
        scores = iter(await self._score_pairs(members) if len(members) > 1 else ())
        return [reason or next(scores) for reason in reasons]

    def _find_obstacle(self, session: RecordedSession) -> HoldoutComparison | None:
        """Return the comparison with the reason why the session has no rows to compare, or nothing."""
        name = _shorten(session.name)
        if not session.has_ended:
            reason = f"“{name}” has not ended, and its hold-out is locked until then."
        elif session.find_holdout(self.outputs) is None:
            reason = (
                f"“{name}” has no outputs for the rows of a hold-out: it ended without a final evaluation, "
                "was evaluated by an earlier version, or its artifacts have expired."
            )
        else:
            return None
        return HoldoutComparison(reason=reason, reason_session=session.id)

    async def _score_pairs(self, sessions: Sequence[RecordedSession]) -> list[HoldoutComparison]:
        """Compare the first session with each of the others, all of which have outputs."""
        inputs: dict[str, str] = {}
        members: list[JsonValue] = []
        for place, session in enumerate(sessions):
            files = session.find_holdout(self.outputs)
            if files is not None:
                inputs |= {f"holdout_{place}": files.rows.digest, f"outputs_{place}": files.outputs.digest}
                members.append(dict(files.outputs.meta))
        is_family = len({session.family_id for session in sessions}) == 1
        # Unrelated sessions share no count: each of them was looked at once.
        looks = max(session.final_looks for session in sessions) if is_family else len(sessions)
        params: dict[str, JsonValue] = {"members": members, "seed": sessions[0].seed, "looks": looks}
        work = Computation("models.compare.compare_on_holdout", params)
        facts: Any = (await self.computer.run(work, inputs, CELL_LIMITS)).value
        first, *others = (session.id for session in sessions)
        return [
            _make_holdout(parse_facts(PairedScores, pair), first, other)
            for pair, other in zip(facts, others, strict=True)
        ]


def _make_holdout(scores: PairedScores, first: UUID, second: UUID) -> HoldoutComparison:
    ids = {"first": first, "second": second}
    return HoldoutComparison(
        rows=scores.rows,
        reason=scores.reason,
        level=scores.level,
        method=scores.method,
        metrics={
            name: MetricDifference(
                first=scores.scores[name]["first"],
                second=scores.scores[name]["second"],
                value=difference["value"],
                low=difference["low"],
                high=difference["high"],
                better=ids.get(scores.better[name] or ""),
            )
            for name, difference in scores.metrics.items()
        },
    )


def _shorten(name: str) -> str:
    """Cut a name within a word, if it must be: a name may be a single long one."""
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 1].rstrip()}…"


def _read(row: ComparedRow) -> RecordedSession:
    """Read a stored session. Raises Conflict for a run or a turn."""
    if row.class_ != STUDY:
        raise Conflict(
            "not_a_study",
            f"“{_shorten(row.name)}” is a {row.class_}, which has no model to compare. Name sessions.",
        )
    return RecordedSession(
        id=row.id,
        goal=row.goal,
        name=row.name,
        preferences=json.loads(row.preferences),
        seed=row.seed,
        status=row.status,
        has_ended=row.has_ended,
        forked_from=row.forked_from,
        family_id=row.family_id,
        final_looks=row.final_looks,
        record=read_fork(row.fork),
        steps=[TimedStep(**step) for step in json.loads(row.steps)],
        artifacts=[StoredArtifact(**artifact) for artifact in json.loads(row.artifacts)],
        answers=[RecordedAnswer(**answer) for answer in json.loads(row.answers)],
        result=current_result(json.loads(row.result)) if row.result else {},
    )


def _summarise(session: RecordedSession) -> ComparedSession:
    record, result = session.record, ResultSummary.model_validate(session.result)
    return ComparedSession(
        id=session.id,
        goal=session.goal,
        name=session.name,
        status=SessionStatus(session.status),
        forked_from=session.forked_from,
        fork=ForkView.model_validate(record.to_json()) if record else None,
        last_step=session.steps[-1].seq if session.steps else 0,
        final_looks=session.final_looks,
        headline=result.headline,
        model_name=result.model_name,
        metric=result.metric,
        holdout=result.holdout,
        leaderboard=result.leaderboard,
    )
