"""In which order folds are fitted."""

from collections.abc import Mapping
from typing import Any


def fold_order(folds: Mapping[str, Any]) -> list[int]:
    """With time order the latest first: it has the most history and lies nearest to what comes."""
    places = list(range(int(folds["count"])))
    return places[::-1] if folds["kind"] == "time" else places
