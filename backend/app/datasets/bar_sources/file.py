"""Bars from a local file."""

from dataclasses import dataclass
from pathlib import Path

from app.datasets.bar_sources.source import ReportProgress, SourceFile
from app.errors import NotFound


@dataclass(frozen=True)
class FileSource:
    path: Path
    coin: str | None = None
    interval: str | None = None

    def fetch(self, folder: Path, report: ReportProgress) -> SourceFile:
        """Return the file itself, without a copy."""
        if not self.path.is_file():
            raise NotFound("no_such_file", f"There is no file {self.path}.")
        return SourceFile(self.path, self.coin, self.interval)
