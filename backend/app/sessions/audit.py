"""Who did what in a session: a view of its journal, not a second log.

The rows that it reads are only ever added (triggers of the schema refuse to change or delete them while their
session exists), and each was written in the transaction of what it tells of.
"""

AUDIT = """
with trail as (
  select at, 'audit' as source, id as n, '' as key, actor, action
  from audit where session_id = $1 and action <> 'question_answered'
  union all
  select recorded_at, 'call', seq, key, coalesce(agent, 'system'),
    case kind when 'tool' then 'tool_called' when 'chat' then 'chat_model_called' else 'choice_made' end
  from calls where session_id = $1
  union all
  select committed_at, 'step', seq, node, 'system', 'step_committed' from steps where session_id = $1
  union all
  select asked_at, 'question', 0, key, agent, kind || '_asked' from questions where session_id = $1
  union all
  select answered_at, 'answer', 0, key, case answered_by when 'user' then 'user' else 'system' end,
    kind || '_answered'
  from questions where session_id = $1 and answered_at is not null
  union all
  select revoked_at, 'revoked', 0, key, 'user', 'allowance_revoked'
  from questions where session_id = $1 and revoked_at is not null
  union all
  select at, 'event', n, kind, 'system', kind from events
  where session_id = $1
    and kind in ('session_started', 'budget_warning', 'session_finished', 'session_failed', 'session_cancelled')
), page as (
  select *, count(*) over () as total from trail order by at, source, n, key limit $2 offset $3
)
select p.at, p.actor, p.action, p.total,
  case p.source
    when 'audit' then (select a.detail::json from audit a where a.id = p.n)
    when 'call' then (
      select json_build_object('step', c.seq, 'call', c.key, 'name', c.name, 'failed', c.failed,
        'duration_ms', c.duration_ms, 'arguments', case c.kind when 'tool' then c.request end,
        'request_digest', c.request_digest,
        'answered_by', case c.kind when 'chat' then c.result #>> '{data,response_metadata,answered_by}' end,
        'result_digest', encode(sha256(convert_to(c.result::text, 'UTF8')), 'hex'), 'usage', c.usage)
      from calls c where c.session_id = $1 and c.seq = p.n and c.key = p.key)
    when 'step' then json_build_object('step', p.n, 'node', p.key)
    when 'question' then (
      select json_build_object('question', q.key, 'body', q.body)
      from questions q where q.session_id = $1 and q.key = p.key)
    when 'answer' then (
      select json_build_object('question', q.key, 'answer', q.answer, 'by', q.answered_by)
      from questions q where q.session_id = $1 and q.key = p.key)
    when 'revoked' then json_build_object('question', p.key)
    else (select e.body from events e where e.session_id = $1 and e.n = p.n)
  end as detail
from page p order by p.at, p.source, p.n, p.key
"""
"""A page of it, oldest first: $1 is the session, $2 the limit, $3 the offset. Details are made for it only."""
