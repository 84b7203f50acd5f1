"""Computations that a zygote serves before it has imported the libraries of models."""

FIRST_COMPUTATIONS = (
    "answer",
    "canary",
    "compare_tables",
    "conversation_sql",
    "frames",
    "ingest",
    "overview",
    "query",
    "relate_tables",
    "report",
    "reread",
    "workspace",
)
"""Computations of uploads and of questions. They need no model, and are served while the rest is imported."""


def is_first(function: str) -> bool:
    """Return True if a computation (`module.function`) is served before all libraries are imported."""
    return function.partition(".")[0] in FIRST_COMPUTATIONS
