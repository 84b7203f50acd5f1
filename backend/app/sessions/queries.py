"""What one owner can read of a session. Plain statements: a list or a view is one round trip."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.db.keyset import MAX_COUNTED_ROWS, ListPage, PageRequest, make_page
from app.db.pool import Database, Record
from app.db.stored_names import current_event, current_result
from app.errors import NotFound
from app.sessions.budget import Resource, make_ledger
from app.sessions.lifecycle import SessionStatus
from app.sessions.schemas import (
    RUN_GRAPH,
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
    StepUsage,
    StepView,
    UsageView,
)
from app.sessions.statements import VIEWS
from app.sessions.usage import total_usage

GET_SESSION = VIEWS.get_session.replace("-- USAGE", VIEWS.usage)


def make_not_found_error(session_id: UUID) -> NotFound:
    return NotFound("session_not_found", f"There is no session with the id {session_id}.")


@dataclass(frozen=True)
class SessionReader:
    """Every method raises NotFound for a session that is not the owner's. `runs`: lists and gets runs only."""

    db: Database
    owner: UUID
    runs: bool = False

    async def list_sessions(
        self, status: SessionStatus | None, portion: PageRequest
    ) -> ListPage[SessionSummary]:
        """Newest first."""
        asked, after = (self.owner, status, RUN_GRAPH, self.runs), portion.after
        cut = (after.at, after.id) if after else (None, None)
        rows = await self.db.rows(VIEWS.list_sessions, *asked, *cut, portion.limit + 1, portion.offset)
        counted = None if after else await self.db.row(VIEWS.count_sessions, *asked, MAX_COUNTED_ROWS)
        total = counted["total"] if counted else after.total if after else 0
        found = [SessionSummary(**_plain(row)) for row in rows]
        return make_page(found, portion, total, lambda one: (one.created_at, one.id))

    async def get(self, session_id: UUID) -> SessionView:
        row = await self.db.row(GET_SESSION, session_id, self.owner, RUN_GRAPH, self.runs)
        if row is None:
            raise make_not_found_error(session_id)
        return SessionView(
            **_plain(row, "event_seq", "preferences", "error", "result", "question", "queue", *_OF_USAGE),
            preferences=json.loads(row["preferences"]),
            last_event=row["event_seq"],
            question=_question(row["question"]),
            usage=_usage(row),
            queue=QueuePositionView.model_validate_json(row["queue"]) if row["queue"] else None,
            error=FailureView.model_validate_json(row["error"]) if row["error"] else None,
            result=current_result(json.loads(row["result"])) if row["result"] else None,
        )

    async def check_exists(self, session_id: UUID) -> None:
        if await self.db.row(VIEWS.is_owned, session_id, self.owner) is None:
            raise make_not_found_error(session_id)

    async def is_over(self, session_id: UUID, cursor: int) -> bool:
        """Whether nothing comes after event `cursor` any more."""
        row = await self.db.row(VIEWS.is_over, session_id, self.owner, cursor)
        if row is None:
            raise make_not_found_error(session_id)
        return bool(row["over"])

    async def messages(self, session_id: UUID, limit: int, offset: int) -> tuple[list[MessageView], int]:
        """In the order in which they were said."""
        rows, total = await self._page(VIEWS.list_messages, session_id, limit, offset)
        return [MessageView(**_plain(row)) for row in rows], total

    async def steps(self, session_id: UUID, limit: int, offset: int) -> tuple[list[StepView], int]:
        rows, total = await self._page(VIEWS.list_steps, session_id, limit, offset)
        return [StepView(**_plain(row, "calls"), calls=json.loads(row["calls"])) for row in rows], total

    async def audit(self, session_id: UUID, limit: int, offset: int) -> tuple[list[AuditView], int]:
        """Everything that was done, oldest first: asked, called, answered, approved, ended."""
        rows, total = await self._page(VIEWS.audit, session_id, limit, offset)
        return [
            AuditView(**_plain(row, "detail"), detail=json.loads(current_event(row["action"], row["detail"])))
            for row in rows
        ], total

    async def results(self, session_id: UUID) -> ResultsView:
        row = await self.db.row(VIEWS.get_results, session_id, self.owner)
        if row is None:
            raise make_not_found_error(session_id)
        return ResultsView(
            id=row["id"],
            status=row["status"],
            error=FailureView.model_validate_json(row["error"]) if row["error"] else None,
            result=current_result(json.loads(row["result"])) if row["result"] else None,
            candidates=[CandidateView(**candidate) for candidate in json.loads(row["candidates"])],
        )

    async def _page(self, sql: str, session_id: UUID, limit: int, offset: int) -> tuple[list[Record], int]:
        """One part of what belongs to a session, and how much there is in all, also past its end."""
        await self.check_exists(session_id)
        rows = await self.db.rows(sql, session_id, limit, offset)
        counted = rows if rows or not offset else await self.db.rows(sql, session_id, 1, 0)
        return list(rows), counted[0]["total"] if counted else 0


def _plain(row: Record, *without: str) -> dict[str, Any]:
    left_out = {"total", *without}
    return {name: value for name, value in row.items() if name not in left_out}


_OF_USAGE = ("usage", "worked_s", "budget_answers")


def _usage(row: Record) -> UsageView:
    parts = [StepUsage(**part) for part in json.loads(row["usage"])]
    totals, worked_s = total_usage(parts), round(row["worked_s"], 3)
    ledger = make_ledger(json.loads(row["preferences"]).get("budget", {}), json.loads(row["budget_answers"]))
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
            ended=resource in ledger.exhausted,
        )
        for resource, limit in ledger.limits.items()
    ]
    return UsageView(**totals.model_dump(), budget=budget, worked_s=worked_s, breakdown=parts)


def _question(raw: str | None) -> QuestionView | None:
    if raw is None:
        return None
    question = json.loads(raw)
    return QuestionView(**question.pop("body"), **question)
