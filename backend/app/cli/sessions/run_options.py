"""Parsed options of `labcrew run`, without heavy imports."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class RunOptions:
    """`out` None is a folder under the data folder; `next_steps`: lines that are printed after success."""

    files: tuple[Path, ...]
    goal: str
    preferences: Mapping[str, object]
    url: str | None = None
    key: str | None = None
    out: Path | None = None
    as_json: bool = False
    next_steps: tuple[str, ...] = ()
