"""What a session has used, by step and agent: read from the rows that calls and fits left."""

from collections.abc import Iterable, Sequence

from app.sessions.schemas import UsagePart, UsageTotals

USAGE = """
  with used as (
    select seq, agent, kind, usage, duration_ms from calls
    where session_id = $1 and kind in ('chat', 'tool')
    union all
    select split_part(f.round_key, '.', 1)::int, c.agent, 'fit', coalesce(f.result -> 'usage', '{}')::jsonb, 0
    from fits f left join calls c on c.session_id = f.session_id and f.round_key = c.seq || '.' || c.key
    where f.session_id = $1 and f.result is not null
  )
  select used.seq as step, node, used.agent,
    count(*) filter (where kind = 'chat') as chat_calls,
    count(*) filter (where kind = 'tool') as tool_calls,
    count(*) filter (where kind = 'fit') as fits,
    coalesce(sum((usage ->> 'input_tokens')::float8), 0)::bigint as input_tokens,
    coalesce(sum((usage ->> 'output_tokens')::float8), 0)::bigint as output_tokens,
    coalesce(sum((usage ->> 'cached_tokens')::float8), 0)::bigint as cached_tokens,
    coalesce(sum((usage ->> 'cost_usd')::float8), 0) as cost_usd,
    count(*) filter (where usage ? 'input_tokens' and not usage ? 'cost_usd') as unpriced_calls,
    coalesce(sum((usage ->> 'cells')::float8), 0)::bigint as cells,
    coalesce(sum((usage ->> 'cpu_s')::float8), 0) as cpu_s,
    coalesce(max((usage ->> 'peak_memory_bytes')::bigint), 0) as peak_memory_bytes,
    coalesce(max((usage ->> 'memory_limit_bytes')::bigint), 0) as memory_limit_bytes,
    round(sum(duration_ms)::numeric / 1000, 3)::float8 as duration_s
  from used left join steps on steps.session_id = $1 and steps.seq = used.seq
  group by used.seq, node, used.agent order by used.seq, used.agent
"""
"""One row a step and agent; $1 is the session. A fit belongs to the call that asked for its round."""

_LARGEST = ("peak_memory_bytes", "memory_limit_bytes")
_ADDED = tuple(name for name in UsageTotals.model_fields if name not in _LARGEST)


def total(parts: Sequence[UsagePart]) -> UsageTotals:
    """Sums of all parts; of memory the largest."""
    sums = {name: _sum(getattr(part, name) for part in parts) for name in _ADDED}
    peaks = {name: max((getattr(part, name) for part in parts), default=0) for name in _LARGEST}
    return UsageTotals.model_validate(sums | peaks)


def _sum(values: Iterable[float]) -> float:
    return round(sum(values), 6)
