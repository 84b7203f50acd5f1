"""The SQL of sessions, by subject: every statement that reads or moves a session's rows."""

from app.db.statements import load

LIFECYCLE = load("app.sessions", "lifecycle")
"""Statements that create, claim, answer, cancel and end a session; see `lifecycle.py` for the transitions."""
FORKS = load("app.sessions", "forks")
"""The statement that forks a session, and what it is decided from."""
ROUNDS = load("app.sessions", "rounds")
"""Rounds of fits and the leases of fits."""
JOURNAL = load("app.sessions", "journal")
"""What a driver writes behind its fence, and what a replay reads. `insert_*` are parts of one statement."""
WORKERS = load("app.sessions", "workers")
"""Heartbeats of worker processes, and sessions that no live worker can drive."""
VIEWS = load("app.sessions", "views")
"""What owners, reports and operators read."""
