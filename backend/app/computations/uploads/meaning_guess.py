"""Guess of the meaning of a column from its facts. Pure."""

import re
from collections.abc import Mapping
from typing import Any

_ID_NAME = re.compile(
    r"(?i)(^|[_\W])(id|uuid|guid|key|index|nr|no|number)$|^(id|uuid|guid)[_\W]|[a-z]Id$|^column_1$"
)
_CATEGORIES = 50
"""Distinct texts that are categories in any table; in a large one, up to one for 20 rows."""


def hint(
    name: str, type_: str, rows: int, present: int, distinct: int, unique: bool, facts: Mapping[str, Any]
) -> str:
    """Guess the meaning from name, type, counts and `facts` (extremes, mean length).

    One of `empty`, `constant`, `boolean`, `datetime`, `id`, `category`, `text` and `numeric`.
    """
    if present == 0:
        return "empty"
    if distinct == 1:
        return "constant"
    if type_ in ("boolean", "datetime"):
        return type_
    if type_ == "integer" and (facts["min"], facts["max"]) == (0, 1):
        return "boolean"
    mean_length = facts.get("mean_length") or 0.0
    named_id = _ID_NAME.search(name) is not None
    if unique and rows >= 10 and type_ != "number" and (named_id or (type_ == "text" and mean_length <= 40)):
        return "id"
    if type_ in ("integer", "number"):
        return "numeric"
    if distinct <= max(_CATEGORIES, present // 20) and mean_length <= 60:
        return "category"
    return "text"
