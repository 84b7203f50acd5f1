"""Read access of one owner to sessions. Each list or view is one statement, so one round trip."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

from app.db.former_field_names import current_event, current_result
from app.db.keyset import MAX_COUNTED_ROWS, ListPage, PageRequest, make_page
from app.db.like_patterns import like_patterns
from app.db.pool import Database, Record
from app.errors import NotFound
from app.sessions.budget import make_ledger
from app.sessions.budget_resources import Resource
from app.sessions.lifecycle import SessionStatus
from app.sessions.schemas import (
    RUN,
    STUDY,
    AuditView,
    BudgetView,
    CandidateView,
    FailureView,
    MessageView,
    QuestionView,
    QueuePositionView,
    ResultsView,
    SessionSummary,
    SessionView,
    StatusCounts,
    StepSummary,
    StepUsage,
    StepView,
    UsageView,
)
from app.sessions.statements import VIEWS
from app.sessions.stored_schemas import ForkView
from app.sessions.usage import add_up, total_usage

SessionSort = Literal["newest", "oldest"]


def _order_list(sort: str, order: str) -> str:
    return VIEWS.list_sessions.replace("-- ORDER", sort).replace("-- PAGE ORDER", order)


SESSION_LISTS: Mapping[SessionSort, str] = {
    "newest": _order_list(VIEWS.newest_first, "page.created_at desc, page.id"),
    "oldest": _order_list(VIEWS.oldest_first, "page.created_at, page.id"),
}
"""Statements of a page of sessions."""

GET_SESSION = VIEWS.get_session.replace("-- USAGE", VIEWS.usage)


def make_not_found_error(session_id: UUID) -> NotFound:
    return NotFound("session_not_found", f"There is no session with the id {session_id}.")


async def is_awaiting_user(db: Database, session_id: UUID) -> bool:
    """Check if a session that has not ended has an open question."""
    return bool(await db.value(VIEWS.is_awaiting_user, session_id))


class SessionDetailRow(NamedTuple):
    """A session with its usage. JSON: `preferences`, `error`, `result`, `queue`, `question`, `usage`, `fork`
    and `budget_answers`."""

    id: UUID
    goal: str
    name: str
    archived_at: datetime | None
    status: str
    step: int
    node: str | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    forked_from: UUID | None
    family_id: UUID
    fork: str | None
    inherited_s: float
    dataset_ids: list[UUID]
    preferences: str
    seed: int
    deadline_at: datetime | None
    event_seq: int
    error: str | None
    result: str | None
    expired_data: list[str]
    queue: str | None
    question: str | None
    worked_s: float
    budget_answers: str
    usage: str


class ResultsRow(NamedTuple):
    """`error`, `result` and `candidates`: JSON."""

    id: UUID
    status: str
    error: str | None
    result: str | None
    candidates: str


@dataclass(frozen=True)
class VisitedNodes:
    """`visits`: number and node of each committed step, in order."""

    graph: str
    visits: list[tuple[int, str]]
    has_begun: bool
    is_over: bool


class OverRow(NamedTuple):
    over: bool


@dataclass(frozen=True)
class SessionFilter:
    """The sessions of a list. `words`: each is in the name or the goal. `dataset_id`: they are about it."""

    status: SessionStatus | None = None
    words: str = ""
    archived: bool = False
    dataset_id: UUID | None = None

    @property
    def patterns(self) -> list[str] | None:
        return like_patterns(self.words) or None


@dataclass(frozen=True)
class SessionReader:
    """Methods raise NotFound for a session of another owner. `runs`: read runs only."""

    db: Database
    owner: UUID
    runs: bool = False

    async def list_sessions(
        self, session_filter: SessionFilter, portion: PageRequest, sort: SessionSort = "newest"
    ) -> ListPage[SessionSummary]:
        """List the sessions of a filter."""
        kind, after = RUN if self.runs else STUDY, portion.after
        scope = (self.owner, session_filter.status, kind, session_filter.archived, session_filter.patterns)
        cursor = (after.at, after.id) if after else (None, None)
        dataset_id = session_filter.dataset_id
        place = (*cursor, portion.limit + 1, portion.offset)
        rows = await self.db.rows(SESSION_LISTS[sort], *scope, *place, dataset_id)
        # Counting costs more than the page: later pages carry the total of the first in their cursor.
        bounds = (MAX_COUNTED_ROWS, dataset_id)
        count = None if after else await self.db.row(VIEWS.count_sessions, *scope, *bounds)
        total = _read_total(count) if count else after.total if after else 0
        summaries = [SessionSummary(**_select(row, "fork"), fork=_make_fork(row["fork"])) for row in rows]
        return make_page(summaries, portion, total, lambda session: (session.created_at, session.id))

    async def count_by_status(self, session_filter: SessionFilter) -> StatusCounts:
        """Count the sessions of a filter by status."""
        rows = await self.db.rows(
            VIEWS.count_sessions_of_owner,
            self.owner,
            STUDY,
            session_filter.archived,
            session_filter.patterns,
            session_filter.dataset_id,
        )
        counts = {SessionStatus(row["status"]): int(row["sessions"]) for row in rows}
        return StatusCounts(by_status=counts, total=sum(counts.values()))

    async def get(self, session_id: UUID) -> SessionView:
        row = await self.db.row(GET_SESSION, session_id, self.owner, RUN if self.runs else None)
        if row is None:
            raise make_not_found_error(session_id)
        return _make_session_view(SessionDetailRow(**row))

    async def check_exists(self, session_id: UUID) -> None:
        if await self.db.row(VIEWS.is_owned, session_id, self.owner) is None:
            raise make_not_found_error(session_id)

    async def lists_position(self) -> int:
        """Return a number that changes with the owner's newest sessions and workflows."""
        row = await self.db.row(VIEWS.lists_position, self.owner)
        return int(row["position"]) if row else 0

    async def is_over(self, session_id: UUID, cursor: int) -> bool:
        """Check if the session has ended and event `cursor` was its last."""
        row = await self.db.row(VIEWS.is_over, session_id, self.owner, cursor)
        if row is None:
            raise make_not_found_error(session_id)
        return OverRow(**row).over

    async def messages(self, session_id: UUID, limit: int, offset: int) -> tuple[list[MessageView], int]:
        """List the messages of the conversation in order, and their number."""
        rows, total = await self._page(VIEWS.list_messages, session_id, limit, offset)
        return [MessageView(**_select(row)) for row in rows], total

    async def steps(self, session_id: UUID, limit: int, offset: int) -> tuple[list[StepView], int]:
        rows, total = await self._page(VIEWS.list_steps, session_id, limit, offset)
        return [StepView(**_select(row, "calls"), calls=json.loads(row["calls"])) for row in rows], total

    async def timeline(self, session_id: UUID, limit: int, offset: int) -> tuple[list[StepSummary], int]:
        """List the steps with counts, the running one last, and their number."""
        rows, total = await self._page(VIEWS.timeline, session_id, limit, offset)
        return [StepSummary(**_select(row)) for row in rows], total

    async def visited_nodes(self, session_id: UUID) -> VisitedNodes:
        row = await self.db.row(VIEWS.visited_nodes, session_id, self.owner)
        if row is None:
            raise make_not_found_error(session_id)
        visits = list(zip(json.loads(row["steps"]), json.loads(row["nodes"]), strict=True))
        return VisitedNodes(row["graph"], visits, row["has_begun"], row["is_over"])

    async def audit(self, session_id: UUID, limit: int, offset: int) -> tuple[list[AuditView], int]:
        """List all recorded actions, oldest first: questions, calls, answers, approvals, the end."""
        rows, total = await self._page(VIEWS.audit, session_id, limit, offset)
        return [
            AuditView(**_select(row, "detail"), detail=json.loads(current_event(row["action"], row["detail"])))
            for row in rows
        ], total

    async def results(self, session_id: UUID) -> ResultsView:
        row = await self.db.row(VIEWS.get_results, session_id, self.owner)
        if row is None:
            raise make_not_found_error(session_id)
        results = ResultsRow(**row)
        return ResultsView(
            id=results.id,
            status=SessionStatus(results.status),
            error=_make_failure(results.error),
            result=current_result(json.loads(results.result)) if results.result else None,
            candidates=[CandidateView(**candidate) for candidate in json.loads(results.candidates)],
        )

    async def _page(self, sql: str, session_id: UUID, limit: int, offset: int) -> tuple[list[Record], int]:
        """Return one page of the rows of a session, and their total number, also beyond the last page."""
        # Steps, messages and calls have no owner of their own: this keeps them private.
        await self.check_exists(session_id)
        rows = await self.db.rows(sql, session_id, limit, offset)
        # The total stands on each row, and a page beyond the last has no row.
        counted = rows if rows or not offset else await self.db.rows(sql, session_id, 1, 0)
        return list(rows), _read_total(counted[0]) if counted else 0


def _read_total(row: Record) -> int:
    """Read the column `total`, which every statement of a page has beside the fields of its view."""
    return int(row["total"])


def _select(row: Record, *excluded: str) -> dict[str, Any]:
    """Return the columns that are fields of a view."""
    left_out = {"total", *excluded}
    return {name: value for name, value in row.items() if name not in left_out}


def _make_session_view(row: SessionDetailRow) -> SessionView:
    failure = _make_failure(row.error)
    result = current_result(json.loads(row.result)) if row.result else None
    return SessionView(
        id=row.id,
        goal=row.goal,
        name=row.name,
        archived_at=row.archived_at,
        status=SessionStatus(row.status),
        step=row.step,
        node=row.node,
        created_at=row.created_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        worked_s=row.worked_s,
        forked_from=row.forked_from,
        family_id=row.family_id,
        fork=_make_fork(row.fork),
        dataset_ids=row.dataset_ids,
        preferences=json.loads(row.preferences),
        seed=row.seed,
        deadline_at=row.deadline_at,
        last_event=row.event_seq,
        queue=QueuePositionView.model_validate_json(row.queue) if row.queue else None,
        question=_make_question(row.question),
        usage=_make_usage(row),
        error=failure,
        error_code=failure.code if failure else None,
        headline=result.get("headline") if result else None,
        result=result,
        expired_data=row.expired_data,
    )


def _make_usage(row: SessionDetailRow) -> UsageView:
    parts = [StepUsage(**part) for part in json.loads(row.usage)]
    totals, worked_s = total_usage(parts), round(row.worked_s, 3)
    copied = [part for part in parts if part.inherited]
    # With the answers so far, as the driver reads it: limits include what the user added.
    ledger = make_ledger(json.loads(row.preferences).get("budget", {}), json.loads(row.budget_answers))
    ledger.spent = {
        Resource.TOKENS: totals.input_tokens + totals.output_tokens,
        Resource.COST: totals.cost_usd,
        Resource.TOOL_CALLS: totals.tool_calls,
    }
    budget = [
        BudgetView(
            resource=resource.value,
            used=ledger.used(resource, worked_s),
            limit=limit,
            exhausted=resource in ledger.exhausted,
        )
        for resource, limit in ledger.limits.items()
    ]
    return UsageView(
        **totals.model_dump(),
        budget=budget,
        worked_s=worked_s,
        breakdown=parts,
        inherited=add_up(copied) if copied else None,
        inherited_s=round(row.inherited_s, 3),
    )


def _make_question(raw: str | None) -> QuestionView | None:
    if raw is None:
        return None
    question = json.loads(raw)
    return QuestionView(**question.pop("body"), **question)


def _make_fork(raw: str | None) -> ForkView | None:
    return ForkView.model_validate_json(raw) if raw else None


def _make_failure(raw: str | None) -> FailureView | None:
    return FailureView.model_validate_json(raw) if raw else None
