"""Invariants of the database at the end: each with a query for the rows that violate it."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.db.pool import Database

CLAIMS: Mapping[str, str] = {
    "every session has ended": "select id, status, fence, last_seq from sessions where ended_at is null",
    "an ended session has no lease": """
        select id from sessions where ended_at is not null and lease_until is not null""",
    "no fit of an ended session is open": """
        select f.session_id, round_key, candidate, f.status from fits f
        where f.status in ('queued', 'running') or lease_until is not null""",
    "a completed session's rounds are counted down to nothing": """
        select r.session_id, round_key, fits_left from rounds r join sessions s on s.id = r.session_id
        where s.status = 'completed' and fits_left <> 0""",
    "no round is counted down twice": """
        select r.session_id, r.round_key, r.fits_left, count(*) as fits
        from rounds r join fits f using (session_id, round_key)
        group by 1, 2, 3 having fits_left < 0 or fits_left > count(*)""",
    "events are numbered from 1 without a gap": """
        select s.id, s.event_seq, count(e.n) as events, min(n) as first, max(n) as last
        from sessions s left join events e on e.session_id = s.id group by 1
        having count(e.n) <> s.event_seq or max(n) <> s.event_seq or min(n) <> 1""",
    "the last event ends the session, and no other does": """
        select s.id, array_agg(e.n) as ends from sessions s join events e on e.session_id = s.id
        where e.kind in ('session_finished', 'session_failed', 'session_cancelled')
        group by s.id having array_agg(e.n) <> array[s.event_seq]""",
    "the first event begins the session, and no other does": """
        select session_id, array_agg(n) from events where kind = 'session_started'
        group by 1 having array_agg(n) <> array[1::bigint]""",
    "steps are numbered from 1 without a gap": """
        select s.id, s.last_seq, count(p.seq) as steps from sessions s left join steps p on p.session_id = s.id
        group by 1 having count(p.seq) <> s.last_seq or (s.last_seq > 0 and max(p.seq) <> s.last_seq)""",
    "each step is told once": """
        select s.id, s.last_seq, count(e.n) as told from sessions s
        left join events e on e.session_id = s.id and e.kind = 'step_finished'
        group by 1 having count(e.n) <> s.last_seq""",
    "no call was recorded by an older driver than its step's": """
        select c.session_id, c.seq, c.key from calls c join steps p using (session_id, seq)
        where c.fence > p.fence""",
    "each artifact is told once": """
        select coalesce(a.session_id, e.session_id) as session, a.id, e.n from artifacts a
        full join (select session_id, n, body ->> 'artifact' as artifact from events
          where kind = 'artifact_saved') e on e.artifact = a.id::text
        where a.id is null or e.n is null""",
    "no effect of a call came twice": """
        select session_id, seq, call_key, name, count(*) from artifacts
        group by 1, 2, 3, 4 having count(*) > 1""",
    "each finished fit is told once": """
        select f.session_id, f.round_key, f.candidate, f.status, count(e.n) as told from fits f
        left join events e on e.session_id = f.session_id and e.kind = 'fit_finished'
          and e.body ->> 'round' = f.round_key and (e.body ->> 'candidate')::int = f.candidate
        group by 1, 2, 3, 4
        having count(e.n) > 1 or (f.status in ('done', 'failed') and count(e.n) <> 1)""",
    "each question is asked once": """
        select q.session_id, q.key, count(e.n) from questions q left join events e
          on e.session_id = q.session_id and e.kind = 'clarification_asked' and e.body ->> 'question' = q.key
        group by 1, 2 having count(e.n) <> 1""",
    "each answer counts once": """
        select q.session_id, q.key, q.answered_by, count(e.n) from questions q left join events e
          on e.session_id = q.session_id and e.kind = 'clarification_answered' and e.body ->> 'question' = q.key
        group by 1, 2, 3 having count(e.n) <> count(distinct q.answered_at)""",
    "the trail knows each session's creation once": """
        select s.id, count(a.id) from sessions s
        left join audit a on a.session_id = s.id and a.action = 'session_created'
        group by 1 having count(a.id) <> 1""",
    "no answer that came too late changed a question": """
        select session_id, key from questions where answer is null and answered_at is not null""",
}


@dataclass(frozen=True)
class Verdict:
    """A claim and what breaks it, in words."""

    claim: str
    broken: list[str]


async def judge_rows(db: Database) -> list[Verdict]:
    verdicts = []
    for claim, sql in CLAIMS.items():
        rows = await db.rows(sql)
        verdicts.append(Verdict(claim, [str(dict(row)) for row in rows]))
    return verdicts
