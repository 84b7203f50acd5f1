"""Stored runs of workflows as lists show them."""

from datetime import datetime
from typing import Literal, NamedTuple
from uuid import UUID

from app.program_runs.schemas import RUN_STATUS, RunStatus, read_failed_status
from app.sandbox.exchange.contract import End
from app.sessions.lifecycle import SessionStatus
from app.workflows.schemas import WorkflowRunView


class WorkflowRunRecord(NamedTuple):
    """A run. `status`: of its session. `result_end`: how the run ended, None before that."""

    id: UUID
    status: str
    result_end: str | None
    is_waiting: bool
    node: str
    version: int
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None

    def make_view(self) -> WorkflowRunView:
        return WorkflowRunView(
            id=self.id,
            status=self._find_status(),
            version=self.version,
            node=self.node,
            created_at=self.created_at,
            started_at=self.started_at,
            ended_at=self.ended_at,
        )

    def _find_status(self) -> RunStatus | Literal["waiting", "awaiting_user"]:
        if self.is_waiting:
            return "waiting"
        if self.status == SessionStatus.AWAITING_USER:
            return "awaiting_user"
        status = RUN_STATUS[SessionStatus(self.status)]
        # A session whose program failed has completed: the failure is its result.
        if status is RunStatus.SUCCEEDED and self.result_end not in (None, End.RETURNED):
            return read_failed_status(str(self.result_end))
        return status
