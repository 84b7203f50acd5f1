"""The interface of sources of bars: each writes one file, which is imported like an upload."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

ReportProgress = Callable[[float, str], object]
"""Receives the finished fraction, 0 to 1, and a description of the current work."""


@dataclass(frozen=True)
class SourceFile:
    """A file for `Prices.import_file`, with coin and interval where the file does not contain them."""

    path: Path
    coin: str | None = None
    interval: str | None = None


class BarSource(Protocol):
    def fetch(self, folder: Path, report: ReportProgress) -> SourceFile:
        """Write or find the file, blocking; new files go into `folder`. Raises LabError."""
        ...
