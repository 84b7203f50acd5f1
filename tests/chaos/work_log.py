"""The work that workers really did, beside what they recorded: JSON lines in one file of all workers."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from app.sessions.step_scope import StepScope


@dataclass(frozen=True)
class WorkEntry:
    """Work on a step. `kind`: `step` (a worker took it up), `begin` or `end` (of a call's work).

    `fence`: that of the lease under which it was done.
    """

    kind: str
    worker: str
    session: str
    fence: int
    seq: int
    key: str
    at: float


@dataclass
class WorkLog:
    """Writes the entries of one worker. A line is shorter than what the kernel appends at once."""

    path: Path
    worker: str
    _file: int = field(init=False)

    def __post_init__(self) -> None:
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, kind: str, step: StepScope, key: str = "") -> None:
        session = str(step.session.id)
        entry = WorkEntry(kind, self.worker, session, step.attempt, step.seq, key, time.monotonic())
        os.write(self._file, (json.dumps(list(vars(entry).values())) + "\n").encode())


@dataclass
class WorkLogReader:
    """Reads the entries that have come since it read last."""

    path: Path
    entries: list[WorkEntry] = field(default_factory=list)
    _at: int = 0

    def read(self) -> None:
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._at)
            new = file.read()
        complete = new[: new.rfind(b"\n") + 1]
        self._at += len(complete)
        self.entries.extend(WorkEntry(*json.loads(line)) for line in complete.splitlines())

    def newest(self) -> dict[str, WorkEntry]:
        """Return the last entry of each session."""
        return {entry.session: entry for entry in self.entries}

    def started_entries(self) -> Iterator[WorkEntry]:
        return (entry for entry in self.entries if entry.kind == "begin")
