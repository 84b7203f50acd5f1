"""Read access of one owner to conversations."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from app.db.keyset import MAX_COUNTED_ROWS, ListPage, PageRequest, make_page
from app.db.pool import Database, Record
from app.errors import NotFound
from app.sessions.lifecycle import SessionStatus
from app.sessions.schemas import QuestionView, QueuePositionView
from app.threads.roles import current_role
from app.threads.schemas import (
    AwaitingTurnView,
    ChartView,
    ChatMessageView,
    TableView,
    ThreadMessages,
    ThreadSummary,
    ThreadView,
    TurnArtifact,
    TurnFailure,
    TurnStatus,
    TurnView,
    WorldlineView,
)
from app.threads.service import make_not_found, make_turn_not_found
from app.threads.statements import THREADS, WORLDLINES
from app.workspaces.snapshot import WORKSPACE_KINDS

GET_TURN = THREADS.get_turn.replace("-- COLUMNS", THREADS.turn_columns)
LIST_PATH = THREADS.list_path.replace("-- COLUMNS", THREADS.turn_columns)


class TurnRecord(NamedTuple):
    """A turn. JSON: `error`, `result`, `queue`, `question` and `artifacts`."""

    id: UUID
    thread_id: UUID
    worldline_id: UUID | None
    parent_id: UUID | None
    mode: str
    message: str
    status: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    error: str | None
    result: str | None
    event_seq: int
    dataset_ids: list[UUID]
    is_waiting: bool
    queue: str | None
    question: str | None
    artifacts: str


@dataclass(frozen=True)
class ThreadReader:
    db: Database
    owner: UUID

    async def get_turn(self, turn_id: UUID) -> TurnView:
        """Raises NotFound."""
        row = await self.db.row(GET_TURN, turn_id, self.owner)
        if row is None:
            raise make_turn_not_found(turn_id)
        return make_turn_view(TurnRecord(**row))

    async def list_awaiting_user(self, limit: int, offset: int) -> list[AwaitingTurnView]:
        """List the turns with an open question, the longest waiting first."""
        rows = await self.db.rows(THREADS.list_turns_awaiting_user, self.owner, limit, offset)
        return [AwaitingTurnView(**row) for row in rows]

    async def is_over(self, turn_id: UUID, cursor: int) -> bool:
        """Check if the turn has ended and event `cursor` was its last. Raises NotFound."""
        over = await self.db.value(THREADS.is_turn_over, turn_id, self.owner, cursor)
        if over is None:
            raise make_turn_not_found(turn_id)
        return bool(over)

    async def list_threads(
        self,
        portion: PageRequest,
        search: str | None = None,
        archived: bool = False,
        dataset_id: UUID | None = None,
    ) -> ListPage[ThreadSummary]:
        """List threads, the last used first. `search`: text in a title or message."""
        pattern = f"%{_escape_pattern(search)}%" if search else None
        after = portion.after
        rows = await self.db.rows(
            THREADS.list_threads,
            self.owner,
            archived,
            pattern,
            after.at if after else None,
            after.id if after else None,
            # The row beyond the limit tells make_page that there is another page.
            portion.limit + 1,
            portion.offset,
            dataset_id,
        )
        total = (
            # Counted for the first page only and brought along by the cursor: a count reads all rows.
            after.total
            if after
            else await self.db.value(
                THREADS.count_threads, self.owner, archived, pattern, MAX_COUNTED_ROWS, dataset_id
            )
        )
        threads = [ThreadSummary(**row) for row in rows]
        return make_page(threads, portion, int(total), lambda thread: (thread.updated_at, thread.id))

    async def get_thread(self, thread_id: UUID) -> ThreadView:
        """Raises NotFound."""
        row = await self.db.row(THREADS.get_thread, thread_id, self.owner)
        if row is None:
            raise make_not_found(thread_id)
        return ThreadView(**row, worldlines=await self.list_worldlines(thread_id))

    async def list_worldlines(self, thread_id: UUID) -> list[WorldlineView]:
        rows = await self.db.rows(THREADS.list_worldlines, thread_id, self.owner)
        return [_make_worldline_view(row) for row in rows]

    async def get_worldline(self, worldline_id: UUID) -> WorldlineView:
        """Raises NotFound."""
        row = await self.db.row(WORLDLINES.get_worldline, worldline_id, self.owner)
        if row is None:
            raise make_not_found(None, worldline_id)
        return _make_worldline_view(row)

    async def list_messages(
        self, thread_id: UUID, worldline_id: UUID | None, before: UUID | None, turns: int
    ) -> ThreadMessages:
        """List the messages of the last `turns` turns of a worldline, or of those before the turn `before`.

        Raises NotFound.
        """
        worldline = _find_worldline(await self.list_worldlines(thread_id), thread_id, worldline_id)
        last = worldline.head
        if before is not None:
            # By the turn, not by a position: turns that were added meanwhile do not shift the pages.
            turn = await self.get_turn(before)
            if turn.thread_id != thread_id:
                raise make_turn_not_found(before)
            last = turn.parent_id
        path = await self.list_path(last, turns)
        views = [make_turn_view(record) for record in reversed(path)]
        messages = await self._read_messages(views)
        return ThreadMessages(
            thread_id=thread_id,
            worldline_id=worldline.id,
            messages=messages,
            next=path[-1].id if path and path[-1].parent_id else None,
        )

    async def list_path(self, last: UUID | None, turns: int) -> list[TurnRecord]:
        """Return a turn and those before it, newest first, at most `turns`."""
        if last is None:
            return []
        return [TurnRecord(**row) for row in await self.db.rows(LIST_PATH, last, self.owner, turns)]

    async def _read_messages(self, turns: Sequence[TurnView]) -> list[ChatMessageView]:
        rows = await self.db.rows(THREADS.list_turn_messages, [turn.turn_id for turn in turns])
        by_turn: dict[UUID, list[Record]] = {}
        for row in rows:
            by_turn.setdefault(row["session_id"], []).append(row)
        return [
            # A turn may hold tables and plans, so that it goes with one of its messages, not with each.
            _make_message_view(row, turn if row is messages[-1] else None)
            for turn in turns
            if (messages := by_turn.get(turn.turn_id))
            for row in messages
        ]


def make_turn_view(record: TurnRecord) -> TurnView:
    result: dict[str, Any] = json.loads(record.result) if record.result else {}
    artifacts: list[dict[str, Any]] = json.loads(record.artifacts)
    failure = _read_failure(record, result)
    views = [
        TurnArtifact.model_validate(artifact)
        for artifact in artifacts
        # Those hold the state of later turns, which nobody asked for as a file.
        if artifact["kind"] not in WORKSPACE_KINDS
    ]
    question = json.loads(record.question) if record.question else None
    return TurnView(
        turn_id=record.id,
        thread_id=record.thread_id,
        worldline_id=record.worldline_id,
        parent_id=record.parent_id,
        status=find_status(
            record.status,
            is_waiting=record.is_waiting and record.ended_at is None,
            has_question=record.question is not None,
            has_failed=failure is not None,
        ),
        message=record.message,
        mode=record.mode,
        text=result.get("text") or (failure.message if failure else ""),
        table=_make_table(result.get("table"), artifacts),
        sql=result.get("sql"),
        plan=result.get("plan"),
        code=result.get("code"),
        readings=result.get("readings", []),
        suggestions=result.get("suggestions", []),
        stdout=result.get("stdout", ""),
        changes=result.get("changes", []),
        variables=result.get("variables", []),
        not_kept=result.get("not_kept", []),
        charts=_make_charts(result.get("charts", ()), artifacts),
        artifacts=views,
        studies=result.get("studies", []),
        steps=result.get("steps", []),
        workflow=result.get("workflow"),
        run=result.get("run"),
        queue=QueuePositionView.model_validate_json(record.queue) if record.queue else None,
        question=QuestionView(**question.pop("body"), **question) if question else None,
        failure=failure,
        dataset_ids=record.dataset_ids,
        created_at=record.created_at,
        started_at=record.started_at,
        ended_at=record.ended_at,
    )


_STATUSES: Mapping[str, TurnStatus] = {
    SessionStatus.QUEUED: TurnStatus.QUEUED,
    SessionStatus.RUNNING: TurnStatus.RUNNING,
    SessionStatus.AWAITING_USER: TurnStatus.AWAITING_USER,
    SessionStatus.AWAITING_FITS: TurnStatus.RUNNING,
    SessionStatus.CANCELLING: TurnStatus.RUNNING,
    SessionStatus.COMPLETED: TurnStatus.SUCCEEDED,
    SessionStatus.FAILED: TurnStatus.FAILED,
    SessionStatus.CANCELLED: TurnStatus.CANCELLED,
}


def find_status(status: str, *, is_waiting: bool, has_question: bool, has_failed: bool) -> TurnStatus:
    """Return the status of a turn from that of its session, which has an open question or waits for another."""
    if is_waiting:
        return TurnStatus.WAITING
    if has_question and status == SessionStatus.RUNNING:
        # The step that asked is about to be released; an answer is taken already.
        return TurnStatus.AWAITING_USER
    return TurnStatus.FAILED if has_failed else _STATUSES[status]


def _read_failure(record: TurnRecord, result: Mapping[str, Any]) -> TurnFailure | None:
    if record.error:
        error = json.loads(record.error)
        return TurnFailure(code=error["code"], message=error["detail"])
    return TurnFailure(**result["failure"]) if result.get("failure") else None


def _make_table(table: Mapping[str, Any] | None, artifacts: Sequence[Mapping[str, Any]]) -> TableView | None:
    """Make the view of a recorded table, whose artifact is recorded by its digest."""
    if table is None:
        return None
    ids = (artifact["id"] for artifact in artifacts if artifact["digest"] == table.get("digest"))
    return TableView.model_validate({**table, "artifact": next(ids, None)})


def _make_charts(
    charts: Sequence[Mapping[str, Any]], artifacts: Sequence[Mapping[str, Any]]
) -> list[ChartView]:
    """Make the views of recorded charts, each found by its digest."""
    by_digest = {artifact["digest"]: artifact for artifact in artifacts if artifact["kind"] == "chart"}
    return [
        ChartView(
            **{name: by_digest[chart["digest"]][name] for name in TurnArtifact.model_fields},
            chart_kind=chart["kind"],
            title=chart["title"],
            problem=chart.get("problem"),
            axes=chart.get("axes", {}),
        )
        for chart in charts
        if chart["digest"] in by_digest
    ]


def _make_message_view(row: Record, turn: TurnView | None) -> ChatMessageView:
    return ChatMessageView(
        id=f"{row['session_id']}.{row['step']}.{row['number']}",
        turn_id=row["session_id"],
        role=current_role(row["role"]),
        text=row["text"],
        created_at=row["created_at"],
        turn=turn,
    )


def _make_worldline_view(row: Record) -> WorldlineView:
    return WorldlineView(
        id=row["id"],
        thread_id=row["thread_id"],
        name=row["name"],
        head=row["head_id"],
        from_turn=row["from_turn_id"],
        created_at=row["created_at"],
    )


def _find_worldline(
    worldlines: Sequence[WorldlineView], thread_id: UUID, worldline_id: UUID | None
) -> WorldlineView:
    """Find a worldline of a thread, by default the first. Raises NotFound."""
    if not worldlines:
        raise make_not_found(thread_id)
    if worldline_id is None:
        return worldlines[0]
    for worldline in worldlines:
        if worldline.id == worldline_id:
            return worldline
    raise NotFound("worldline_not_found", f"This thread has no worldline with the id {worldline_id}.")


def _escape_pattern(text: str) -> str:
    """Escape a text for LIKE."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
