"""What one owner can read of a session. Plain statements: a list or a view is one round trip."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.db.keyset import MAX_COUNTED, Part, Portion, part_of
from app.db.pool import Database, Record
from app.errors import NotFound
from app.sessions.audit import AUDIT
from app.sessions.budget import Resource, ledger_of
from app.sessions.lifecycle import SessionStatus
from app.sessions.schemas import (
    RUN_GRAPH,
    AuditView,
    BudgetView,
    CandidateView,
    FailureView,
    InLineView,
    MessageView,
    QuestionView,
    ResultsView,
    SessionSummary,
    SessionView,
    StepView,
    UsagePart,
    UsageView,
)
from app.sessions.usage import USAGE, total

_LIST = """
select s.id, s.goal, s.status, s.last_seq as step,
  (select node from steps where session_id = s.id and seq = s.last_seq) as node,
  s.created_at, s.started_at, s.ended_at
from sessions s
where s.owner_id = $1 and ($2::text is null or s.status = $2) and (s.graph = $3) = $4
  and s.created_at <= coalesce($5, 'infinity'::timestamptz)
  and ($5 is null or s.created_at < $5 or s.id > $6::uuid)
order by s.created_at desc, s.id
limit $7 offset $8
"""

_COUNT = f"""
select count(*) as total from (
  select from sessions
  where owner_id = $1 and ($2::text is null or status = $2) and (graph = $3) = $4
  limit {MAX_COUNTED}) as few
"""  # noqa: S608 - a number of ours

_ONE = """
select s.id, s.goal, s.status, s.last_seq as step,
  (select node from steps where session_id = s.id and seq = s.last_seq) as node,
  s.created_at, s.started_at, s.ended_at,
  s.dataset_ids, s.preferences, s.seed, s.deadline_at, s.event_seq, s.error, s.result, s.forgotten,
  case when s.ended_at is null and s.admitted_at is null and s.wake > s.seen then
    (select json_build_object('place', place, 'of', length) from session_line where id = s.id) end as in_line,
  (select row_to_json(q) from (
    select key, kind, agent, body, asked_at from questions
    where session_id = s.id and answered_at is null and s.ended_at is null
    order by asked_at limit 1) as q) as question,
  coalesce(extract(epoch from coalesce(s.ended_at, s.waiting_since, now()) - s.started_at)
    - s.waited_s, 0)::float8 as worked_s,
  (select coalesce(json_agg(json_build_array(split_part(key, ':', 2), answer) order by answered_at), '[]')
    from questions where session_id = s.id and kind = 'budget' and answered_at is not null) as budget_answers,
  (select coalesce(json_agg(u), '[]') from ( -- USAGE
  ) as u) as usage
from sessions s
where s.id = $1 and s.owner_id = $2 and (s.graph = $3 or not $4)
""".replace("-- USAGE", USAGE)

_MINE = "select from sessions where id = $1 and owner_id = $2"

_OVER = "select ended_at is not null and event_seq <= $3 as over from sessions where id = $1 and owner_id = $2"

_MESSAGES = """
select seq as step, n, role, text, at, count(*) over () as total
from messages where session_id = $1 order by at, seq, n limit $2 offset $3
"""

_STEPS = """
select seq, node, started_at, committed_at, count(*) over () as total,
  (select coalesce(json_agg(json_build_object(
      'key', key, 'kind', kind, 'name', name, 'agent', agent, 'failed', failed,
      'duration_ms', duration_ms, 'recorded_at', recorded_at) order by recorded_at, key), '[]')
    from calls c where c.session_id = steps.session_id and c.seq = steps.seq) as calls
from steps where session_id = $1 order by seq limit $2 offset $3
"""

_RESULTS = """
select s.id, s.status, s.error, s.result,
  (select coalesce(json_agg(json_build_object(
      'round', round_key, 'candidate', candidate, 'name', name, 'status', status, 'runs', runs,
      'started_at', started_at, 'ended_at', ended_at) order by round_key, candidate), '[]')
    from fits f where f.session_id = s.id) as candidates
from sessions s where s.id = $1 and s.owner_id = $2
"""


def session_not_found(session_id: UUID) -> NotFound:
    return NotFound("session_not_found", f"There is no session with the id {session_id}.")


@dataclass(frozen=True)
class SessionReader:
    """Every method raises NotFound for a session that is not the owner's. `runs`: lists and gets runs only."""

    db: Database
    owner: UUID
    runs: bool = False

    async def browse(self, status: SessionStatus | None, portion: Portion) -> Part[SessionSummary]:
        """Newest first."""
        asked, after = (self.owner, status, RUN_GRAPH, self.runs), portion.after
        cut = (after.at, after.id) if after else (None, None)
        rows = await self.db.rows(_LIST, *asked, *cut, portion.limit + 1, portion.offset)
        counted = None if after else await self.db.row(_COUNT, *asked)
        total = counted["total"] if counted else after.total if after else 0
        found = [SessionSummary(**_plain(row)) for row in rows]
        return part_of(found, portion, total, lambda one: (one.created_at, one.id))

    async def get(self, session_id: UUID) -> SessionView:
        row = await self.db.row(_ONE, session_id, self.owner, RUN_GRAPH, self.runs)
        if row is None:
            raise session_not_found(session_id)
        return SessionView(
            **_plain(row, "event_seq", "preferences", "error", "result", "question", "in_line", *_OF_USAGE),
            preferences=json.loads(row["preferences"]),
            last_event=row["event_seq"],
            question=_question(row["question"]),
            usage=_usage(row),
            in_line=InLineView.model_validate_json(row["in_line"]) if row["in_line"] else None,
            error=FailureView.model_validate_json(row["error"]) if row["error"] else None,
            result=json.loads(row["result"]) if row["result"] else None,
        )

    async def must_exist(self, session_id: UUID) -> None:
        if await self.db.row(_MINE, session_id, self.owner) is None:
            raise session_not_found(session_id)

    async def is_over(self, session_id: UUID, cursor: int) -> bool:
        """Whether nothing comes after event `cursor` any more."""
        row = await self.db.row(_OVER, session_id, self.owner, cursor)
        if row is None:
            raise session_not_found(session_id)
        return bool(row["over"])

    async def messages(self, session_id: UUID, limit: int, offset: int) -> tuple[list[MessageView], int]:
        """In the order in which they were said."""
        rows, total = await self._page(_MESSAGES, session_id, limit, offset)
        return [MessageView(**_plain(row)) for row in rows], total

    async def steps(self, session_id: UUID, limit: int, offset: int) -> tuple[list[StepView], int]:
        rows, total = await self._page(_STEPS, session_id, limit, offset)
        return [StepView(**_plain(row, "calls"), calls=json.loads(row["calls"])) for row in rows], total

    async def audit(self, session_id: UUID, limit: int, offset: int) -> tuple[list[AuditView], int]:
        """Everything that was done, oldest first: asked, called, answered, approved, ended."""
        rows, total = await self._page(AUDIT, session_id, limit, offset)
        return [AuditView(**_plain(row, "detail"), detail=json.loads(row["detail"])) for row in rows], total

    async def results(self, session_id: UUID) -> ResultsView:
        row = await self.db.row(_RESULTS, session_id, self.owner)
        if row is None:
            raise session_not_found(session_id)
        return ResultsView(
            id=row["id"],
            status=row["status"],
            error=FailureView.model_validate_json(row["error"]) if row["error"] else None,
            result=json.loads(row["result"]) if row["result"] else None,
            candidates=[CandidateView(**candidate) for candidate in json.loads(row["candidates"])],
        )

    async def _page(self, sql: str, session_id: UUID, limit: int, offset: int) -> tuple[list[Record], int]:
        """One part of what belongs to a session, and how much there is in all, also past its end."""
        await self.must_exist(session_id)
        rows = await self.db.rows(sql, session_id, limit, offset)
        counted = rows if rows or not offset else await self.db.rows(sql, session_id, 1, 0)
        return list(rows), counted[0]["total"] if counted else 0


def _plain(row: Record, *without: str) -> dict[str, Any]:
    left_out = {"total", *without}
    return {name: value for name, value in row.items() if name not in left_out}


_OF_USAGE = ("usage", "worked_s", "budget_answers")


def _usage(row: Record) -> UsageView:
    parts = [UsagePart(**part) for part in json.loads(row["usage"])]
    totals, worked_s = total(parts), round(row["worked_s"], 3)
    ledger = ledger_of(json.loads(row["preferences"]).get("budget", {}), json.loads(row["budget_answers"]))
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
            ended=resource in ledger.finished,
        )
        for resource, limit in ledger.limits.items()
    ]
    return UsageView(**totals.model_dump(), budget=budget, worked_s=worked_s, parts=parts)


def _question(raw: str | None) -> QuestionView | None:
    if raw is None:
        return None
    question = json.loads(raw)
    return QuestionView(**question.pop("body"), **question)
