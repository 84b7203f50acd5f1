"""The SQL of jobs."""

from app.db.statements import load

JOBS = load("app.agent_jobs", "agent_jobs")
