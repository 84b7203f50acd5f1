"""Folders of a run's environment, tables and results, outside the repository."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SUITE_FOLDER = Path(__file__).parent
DEFAULT_FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "labcrew" / "quality"

Json = dict[str, Any]


@dataclass(frozen=True)
class RunFolders:
    """`folder` is made as needed, and all of it but results.jsonl can be made again.

    `suite`: subfolder of another suite's tables and results; the interpreter is shared.
    """

    folder: Path
    suite: str = ""

    @property
    def python(self) -> Path:
        """Interpreter of the peers and of the packages with data."""
        return self.folder / "venv" / "bin" / "python"

    @property
    def tables(self) -> Path:
        return self.folder / self.suite / "tables"

    @property
    def results(self) -> Path:
        return self.folder / self.suite / "results.jsonl"

    @property
    def service(self) -> Path:
        return self.folder / self.suite / "service"

    def table(self, name: str) -> Path:
        return self.tables / name

    def facts(self, name: str) -> Json:
        """Read a table's table.json; raises LookupError before the table is prepared."""
        try:
            facts: Json = json.loads((self.table(name) / "table.json").read_text())
        except FileNotFoundError:
            raise LookupError(
                f"There is no table {name!r} in {self.tables}: run benchmarks.quality.install."
            ) from None
        return facts

    def contender_folder(self, table: str, contender: str, budget_s: float) -> Path:
        folder = self.folder / self.suite / "out" / f"{table}-{contender}-{budget_s:g}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder
