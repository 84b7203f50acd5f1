"""Export of a session's journal, for checking its report again and for its download."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from app.db.pool import Database
from app.recorded_call import RecordedCall
from app.sessions.queries import make_not_found_error
from app.sessions.recorded_facts import CallRecord, make_recorded_call
from app.sessions.statements import VIEWS


class LastStepRow(NamedTuple):
    last_seq: int


@dataclass(frozen=True)
class SessionEvidence:
    """The journals of one owner's sessions."""

    db: Database
    owner: UUID

    async def calls(self, session_id: UUID) -> AsyncIterator[RecordedCall]:
        """Yield every recorded call in order, with one step in memory at a time. Raises NotFound."""
        row = await self.db.row(VIEWS.last_step, session_id, self.owner)
        if row is None:
            raise make_not_found_error(session_id)
        # One step further: a step that was never committed has calls too.
        for seq in range(LastStepRow(**row).last_seq + 2):
            for call in await self.db.rows(VIEWS.export_calls, session_id, seq):
                yield make_recorded_call(CallRecord(**call))
