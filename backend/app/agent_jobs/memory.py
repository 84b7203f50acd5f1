"""The memory of jobs that share a session: what the assistant is told about those before."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.agent_jobs.statements import JOBS
from app.agents.assistant.brief import EarlierTurn
from app.db.pool import Database
from app.json_types import JsonValue
from app.modeling.facts.conversion import dump_facts
from app.sessions.step_scope import SessionFacts
from app.threads.memory import bound_plan, shorten


@dataclass(frozen=True)
class JobMemory:
    """Reads the jobs before a job. `window`: their number. `session`: the name that they share."""

    db: Database
    window: int
    session: str | None = None

    def of_session(self, session: str | None) -> "JobMemory":
        return replace(self, session=session)

    async def read(self, facts: SessionFacts) -> list[JsonValue]:
        """Return the ended jobs before this one, oldest first, as JSON of `EarlierTurn`."""
        if self.session is None:
            return []
        rows = await self.db.rows(JOBS.list_earlier, facts.owner_id, self.session, facts.id, self.window)
        return [dump_facts(_recall(row["message"], json.loads(row["result"] or "{}"))) for row in rows]

    async def summarize(self, facts: SessionFacts) -> str:
        """Return nothing: the jobs of a name are bounded by the window."""
        return ""


def _recall(prompt: str, result: Mapping[str, Any]) -> EarlierTurn:
    table = result.get("table") or {}
    failure = result.get("failure") or {}
    return EarlierTurn(
        message=shorten(prompt),
        text=shorten(result.get("text") or result.get("summary") or ""),
        columns=[column["name"] for column in table.get("columns", ())],
        row_count=table.get("row_count"),
        sql=result.get("sql"),
        plan=bound_plan(result.get("plan")),
        code=shorten(result["code"]) if result.get("code") else None,
        failure=failure.get("message"),
        steps=result.get("steps") or [],
    )
