"""The budget ledger of a session, loaded from the rows of its calls, questions and events."""

import json
from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from app.db.pool import Database
from app.sessions.budget import BudgetLedger, make_ledger
from app.sessions.budget_resources import Amounts, Resource
from app.sessions.statements import VIEWS


class UsageRow(NamedTuple):
    """`answers` and `warned`: JSON arrays of (resource, answer) and of (resource, limit)."""

    tokens: float
    cost_usd: float
    tool_calls: float
    answers: str
    warned: str


async def load_ledger(
    db: Database, session_id: UUID, budget: Mapping[str, float], max_budget: Amounts
) -> BudgetLedger:
    """Load the usage of a session. Without a budget there is nothing to limit, and no query.

    `budget`: the session's own limits by resource; `max_budget`: the operator's.
    """
    row = await db.row(VIEWS.budget_usage, session_id) if budget else None
    if row is None:
        return BudgetLedger({})
    usage = UsageRow(**row)
    ledger = make_ledger(budget, json.loads(usage.answers), max_budget)
    # Seconds are not counted in rows: the lease carries them.
    ledger.spent = {
        Resource.TOKENS: usage.tokens,
        Resource.COST: usage.cost_usd,
        Resource.TOOL_CALLS: usage.tool_calls,
    }
    ledger.warned_limits = {(name, limit) for name, limit in json.loads(usage.warned)}
    return ledger
