"""The ledger of a session as its rows tell it: what its calls used, what was asked, answered and warned of."""

import json
from collections.abc import Mapping
from uuid import UUID

from app.db.pool import Database
from app.sessions.budget import Amounts, BudgetLedger, Resource, make_ledger
from app.sessions.statements import VIEWS


async def load_ledger(
    db: Database, session_id: UUID, budget: Mapping[str, float], most: Amounts
) -> BudgetLedger:
    """`budget`: the session's own, by resource. A session without one needs no query."""
    row = await db.row(VIEWS.budget_usage, session_id) if budget else None
    if row is None:
        return BudgetLedger({})
    ledger = make_ledger(budget, json.loads(row["answers"]), most)
    ledger.spent = {name: row[name] for name in Resource if name is not Resource.SECONDS}
    ledger.warned_limits = {(name, limit) for name, limit in json.loads(row["warned"])}
    return ledger
