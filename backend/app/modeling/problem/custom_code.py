"""Whether facts, recipes or parameters hold code that an agent wrote. Imports nothing heavy."""

from typing import Any

PYTHON_OPERATION = "python"
"""The operation of a recipe that is code."""
CUSTOM_ESTIMATOR = "Written"
"""The candidate whose source is a hyperparameter."""


def contains_code(value: Any) -> bool:
    """Whether a recipe, a candidate or anything that holds one, however deep, has code in it."""
    if isinstance(value, dict):
        if value.get("op") == PYTHON_OPERATION or value.get("estimator") == CUSTOM_ESTIMATOR:
            return True
        return any(contains_code(item) for item in value.values() if isinstance(item, dict | list | tuple))
    if isinstance(value, list | tuple):
        return any(contains_code(item) for item in value if isinstance(item, dict | list | tuple))
    return False


def omit_source(value: Any) -> Any:
    """The same facts with the source of code left out: whoever wrote it has it, and it is long."""
    if isinstance(value, dict):
        made = {key: omit_source(item) for key, item in value.items()}
        is_code = value.get("op") == PYTHON_OPERATION or {"source", "style"} <= value.keys()
        return {**made, "source": "..."} if is_code else made
    return [omit_source(item) for item in value] if isinstance(value, list) else value
