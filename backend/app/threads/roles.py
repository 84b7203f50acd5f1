"""The role of the assistant in the messages of a conversation."""

ASSISTANT = "assistant"
_FORMER_NAME = "analyst"
"""Of the assistant, in rows and events from before its name was that of the field. They are not rewritten."""


def current_role(stored: str) -> str:
    """Return the present name of a role as a row or an event has it."""
    return ASSISTANT if stored == _FORMER_NAME else stored
