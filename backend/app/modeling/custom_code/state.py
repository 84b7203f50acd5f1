"""Learned state of agent-written code as storable data: JSON, arrays and fitted scikit-learn estimators."""

import copy
import json
from typing import Any

import numpy as np
import skops.io
from sklearn.base import BaseEstimator

from app.errors import InvalidInput

FrozenState = dict[str, Any]
"""`text`: the structure as JSON; `parts`: arrays and estimators, referred to by position."""

MAX_STATE_BYTES = 8 << 20
"""State is stored with the model, and loaded for every prediction."""
TREE_TYPES = (
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
)
"""Types inside scikit-learn's trees that skops does not trust by default."""


def freeze(value: Any, name: str) -> FrozenState:
    """Convert a value to storable data. Raises InvalidInput `bad_state` if it cannot be stored or is too
    large."""
    parts: list[Any] = []
    frozen = {"text": json.dumps(_to_json(value, parts, name)), "parts": parts}
    # Before the dump, which would need the memory of whatever was returned.
    size = len(frozen["text"]) + sum(part.nbytes for part in parts if isinstance(part, np.ndarray))
    if parts and size <= MAX_STATE_BYTES:
        try:
            data = skops.io.dumps(frozen)
        except (TypeError, AttributeError, ValueError) as error:
            raise _refused(name, f"holds a value that cannot be stored ({error})") from error
        # Checked when it is made: a model that cannot be loaded would fail at its first prediction only.
        unknown = set(skops.io.get_untrusted_types(data=data)) - set(TREE_TYPES)
        if unknown:
            raise _refused(name, f"holds {', '.join(sorted(unknown))}, which cannot be stored")
        size = max(size, len(data))
    if size > MAX_STATE_BYTES:
        raise _refused(name, f"takes more than {MAX_STATE_BYTES >> 20} MB")
    return frozen


def thaw(frozen: FrozenState) -> Any:
    """Restore the value as a copy: changing it does not change the stored state."""
    return _from_json(json.loads(frozen["text"]), copy.deepcopy(list(frozen["parts"])))


def _to_json(value: Any, parts: list[Any], name: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        # Pairs, since JSON would make texts of keys that are numbers.
        return {"dict": [[_to_json(k, parts, name), _to_json(v, parts, name)] for k, v in value.items()]}
    if isinstance(value, list | tuple):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [_to_json(item, parts, name) for item in value]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        parts.append(value)
        return {"part": len(parts) - 1}
    # Classes of the code itself do not exist where the model is loaded.
    if isinstance(value, BaseEstimator) and type(value).__module__.startswith("sklearn."):
        parts.append(value)
        return {"part": len(parts) - 1}
    raise _refused(
        name,
        f"holds a {type(value).__name__}; it may hold numbers, texts, lists, dicts, arrays of numbers and "
        "fitted scikit-learn estimators (of a Series return `.to_dict()` or `.to_numpy()`)",
    )


def _from_json(value: Any, parts: list[Any]) -> Any:
    if not isinstance(value, dict):
        return value
    [(kind, inner)] = value.items()
    if kind == "part":
        return parts[inner]
    if kind == "dict":
        return {_from_json(k, parts): _from_json(v, parts) for k, v in inner}
    items = [_from_json(item, parts) for item in inner]
    return items if kind == "list" else tuple(items)


def _refused(name: str, problem: str) -> InvalidInput:
    return InvalidInput("bad_state", f"The result of `fit` of {name!r} {problem}.", name=name)
