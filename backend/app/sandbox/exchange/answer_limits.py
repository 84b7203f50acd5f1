"""Bounds of a cell's answer: JSON that every reader of it (journal, API, socket, report) can take.

The cell checks them first, so that the author of a program gets a clear error. The worker checks them again,
because a program that reached its cell's descriptors can write any answer itself.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from app.errors import TooLarge

MAX_DEPTH = 64
"""Levels of arrays and objects. Pydantic and json refuse at about 200 and 1,000."""
MAX_PREVIEW_ROWS = 100
"""Rows of a table in an answer: several screens of a reader, and within the context of a chat model. A file has
all rows."""
MAX_PROGRAM_BYTES = 1 << 20
"""Bytes of JSON of a program's value, which is shown to people and chat models; data belongs into a file."""
MAX_PROGRAM_KEYS = 10_000
"""Keys of all objects of a program's value together: a reader pays for each, however short it is."""


@dataclass(frozen=True)
class AnswerLimits:
    """Limits of one answer. `max_keys`: keys of all objects together; None: bounded by `max_bytes` only."""

    max_bytes: int
    max_keys: int | None = None
    max_depth: int = MAX_DEPTH

    def check(self, value: object, size_bytes: int) -> None:
        """Raise TooLarge naming the bound that `value`, `size_bytes` of JSON, exceeds."""
        if size_bytes > self.max_bytes:
            raise TooLarge(
                "value_too_large",
                f"The result is {size_bytes} bytes of JSON, over the limit of {self.max_bytes}: leave it in a"
                " file instead.",
                size_bytes=size_bytes,
                limit_bytes=self.max_bytes,
            )
        keys = 0
        for depth, level_keys in _levels(value):
            keys += level_keys
            if depth > self.max_depth:
                raise too_deep(self.max_depth)
            if self.max_keys is not None and keys > self.max_keys:
                raise TooLarge(
                    "value_has_too_many_keys",
                    f"The result has more than {self.max_keys:,} keys: return a frame or leave a file instead.",
                    limit=self.max_keys,
                )


def too_deep(limit: int) -> TooLarge:
    """Make the refusal of a value of more than `limit` levels, as one that contains itself has."""
    return TooLarge(
        "value_too_deep",
        f"The result nests arrays and objects more than {limit} levels deep, or contains itself: flatten it.",
        limit=limit,
    )


def _levels(value: object) -> Iterator[tuple[int, int]]:
    """Yield depth and number of keys of each level, the outermost first.

    Iterative, because a value of any depth has to be measured.
    """
    level = [value] if isinstance(value, dict | list) else []
    depth = 0
    while level:
        depth += 1
        yield depth, sum(len(item) for item in level if isinstance(item, dict))
        children = (item.values() if isinstance(item, dict) else item for item in level)
        level = [child for items in children for child in items if isinstance(child, dict | list)]


def parse(line: bytes) -> Any:
    """Parse strict JSON. Raises ValueError or RecursionError for anything else, NaN and infinity included."""
    # `parse_float`: Python reads 1e999 as infinity, which is no JSON.
    return json.loads(line, parse_constant=_refuse_constant, parse_float=_finite)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is not a finite number")
    return number
