"""What every source of bars keeps: it leaves one file, and everything that is true of imports is true of it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

ReportProgress = Callable[[float, str], object]
"""Hears how far the work is, 0 to 1, and what it does."""


@dataclass(frozen=True)
class SourceFile:
    """A file that `Prices.add` reads; its coin and interval where the file does not say them."""

    path: Path
    coin: str | None = None
    interval: str | None = None


class BarSource(Protocol):
    def fetch(self, folder: Path, tell: ReportProgress) -> SourceFile:
        """Blocking; new files go into `folder`. Raises LabError saying what is wrong and what to do."""
        ...
