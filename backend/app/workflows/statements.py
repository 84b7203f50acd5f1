"""The SQL of workflows."""

from app.db.statements import load

WORKFLOWS = load("app.workflows", "workflows")
PROPOSALS = load("app.workflows", "proposals")
TAGS = load("app.workflows", "tags")
SECRETS = load("app.workflows", "secrets")
TRIGGERS = load("app.workflows", "triggers")
