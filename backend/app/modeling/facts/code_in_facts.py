"""Detection and removal of agent-written code in JSON facts, recipes and parameters."""

from typing import Any

PYTHON_OPERATION = "python"
"""`op` of the recipe operation that runs custom code."""
CUSTOM_ESTIMATOR = "Written"
"""`estimator` of the candidate whose source code is a hyperparameter."""


def contains_code(value: Any) -> bool:
    """Search a JSON value at any depth for a custom operation or a custom estimator."""
    if isinstance(value, dict):
        if value.get("op") == PYTHON_OPERATION or value.get("estimator") == CUSTOM_ESTIMATOR:
            return True
        return any(contains_code(item) for item in value.values() if isinstance(item, dict | list | tuple))
    if isinstance(value, list | tuple):
        return any(contains_code(item) for item in value if isinstance(item, dict | list | tuple))
    return False


def omit_source(value: Any) -> Any:
    """A copy of the JSON value with the source of custom code replaced by "...".

    The author of the code has it already, and it is long.
    """
    if isinstance(value, dict):
        copy = {key: omit_source(item) for key, item in value.items()}
        is_code = value.get("op") == PYTHON_OPERATION or {"source", "style"} <= value.keys()
        return {**copy, "source": "..."} if is_code else copy
    return [omit_source(item) for item in value] if isinstance(value, list) else value
