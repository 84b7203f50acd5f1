"""The SQL of threads."""

from app.db.statements import load

THREADS = load("app.threads", "threads")
WORLDLINES = load("app.threads", "worldlines")
STUDIES = load("app.threads", "studies")
