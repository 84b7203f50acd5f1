"""Computations that a zygote serves before it has imported the libraries of models."""

FIRST_COMPUTATIONS = (
    "canary",
    "cell_files.frames",
    "cell_files.workspace",
    "join_discovery.relate_tables",
    "queries.answer",
    "queries.conversation_sql",
    "queries.query",
    "report",
    "tables.compare_tables",
    "uploads.ingest",
    "uploads.reread",
)
"""Computations of uploads and of questions. They need no model, and are served while the rest is imported."""


def is_first(function: str) -> bool:
    """Return True if a computation (`package.module.function`) is served before all libraries are imported."""
    return function.rpartition(".")[0] in FIRST_COMPUTATIONS
