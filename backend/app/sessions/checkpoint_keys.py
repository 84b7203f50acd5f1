"""Keys of checkpoints in Redis, for modules that need no LangGraph."""

PREFIX = "labcrew:checkpoints:"


def checkpoint_key(thread_id: str) -> str:
    """Key of the hash that holds every checkpoint of a LangGraph thread, which is a session."""
    return PREFIX + thread_id
