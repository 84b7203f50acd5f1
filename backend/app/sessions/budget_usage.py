"""The ledger of a session as its rows tell it: what its calls used, what was asked, answered and warned of."""

import json
from collections.abc import Mapping
from uuid import UUID

from app.db.pool import Database
from app.sessions.budget import Amounts, Ledger, Resource, ledger_of

_LOAD = """
select
  (select coalesce(sum(
      (usage ->> 'input_tokens')::float8 + (usage ->> 'output_tokens')::float8), 0)
    from calls where session_id = $1 and kind = 'chat') as tokens,
  (select coalesce(sum((usage ->> 'cost_usd')::float8), 0)
    from calls where session_id = $1 and kind = 'chat') as cost_usd,
  (select count(*)::float8 from calls where session_id = $1 and kind = 'tool') as tool_calls,
  (select coalesce(json_agg(json_build_array(split_part(key, ':', 2), answer) order by answered_at), '[]')
    from questions where session_id = $1 and kind = 'budget' and answered_at is not null) as answers,
  (select coalesce(json_agg(json_build_array(body ->> 'budget', (body ->> 'limit')::float8)), '[]')
    from events where session_id = $1 and kind = 'budget_warning') as warned
"""


async def load(db: Database, session_id: UUID, budget: Mapping[str, float], most: Amounts) -> Ledger:
    """`budget`: the session's own, by resource. A session without one needs no query."""
    row = await db.row(_LOAD, session_id) if budget else None
    if row is None:
        return Ledger({})
    ledger = ledger_of(budget, json.loads(row["answers"]), most)
    ledger.spent = {name: row[name] for name in Resource if name is not Resource.SECONDS}
    ledger.warned = {(name, limit) for name, limit in json.loads(row["warned"])}
    return ledger
