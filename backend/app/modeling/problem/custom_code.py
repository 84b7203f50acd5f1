"""Whether facts, recipes or parameters hold code that an agent wrote. Imports nothing heavy."""

from typing import Any

PYTHON = "python"
"""The operation of a recipe that is code."""
WRITTEN = "Written"
"""The candidate whose source is a hyperparameter."""


def holds_code(value: Any) -> bool:
    """Whether a recipe, a candidate or anything that holds one, however deep, has code in it."""
    if isinstance(value, dict):
        if value.get("op") == PYTHON or value.get("estimator") == WRITTEN:
            return True
        return any(holds_code(item) for item in value.values() if isinstance(item, dict | list | tuple))
    if isinstance(value, list | tuple):
        return any(holds_code(item) for item in value if isinstance(item, dict | list | tuple))
    return False


def without_source(value: Any) -> Any:
    """The same facts with the source of code left out: whoever wrote it has it, and it is long."""
    if isinstance(value, dict):
        made = {key: without_source(item) for key, item in value.items()}
        is_code = value.get("op") == PYTHON or {"source", "style"} <= value.keys()
        return {**made, "source": "..."} if is_code else made
    return [without_source(item) for item in value] if isinstance(value, list) else value
