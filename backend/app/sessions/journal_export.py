"""What a session's journal holds, whole: for whoever checks a report again or takes everything along."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.db.pool import Database
from app.recorded_call import RecordedCall
from app.sessions.queries import make_not_found_error
from app.sessions.statements import VIEWS


@dataclass(frozen=True)
class SessionEvidence:
    db: Database
    owner: UUID

    async def calls(self, session_id: UUID) -> AsyncIterator[RecordedCall]:
        """Every recorded call in its order, one step in memory at a time; raises NotFound."""
        row = await self.db.row(VIEWS.last_step, session_id, self.owner)
        if row is None:
            raise make_not_found_error(session_id)
        for seq in range(row["last_seq"] + 2):  # a step that never committed has calls too
            for call in await self.db.rows(VIEWS.export_calls, session_id, seq):
                yield RecordedCall(
                    seq=call["seq"],
                    node=call["node"],
                    key=call["key"],
                    tool=call["name"],
                    agent=call["agent"],
                    request=_json(call["request"]),
                    result=_json(call["result"]),
                    kind=call["kind"],
                    failed=call["failed"],
                    duration_ms=call["duration_ms"],
                )


def _json(raw: Any) -> Any:
    """JSON columns come as text."""
    return json.loads(raw) if isinstance(raw, str) else raw
