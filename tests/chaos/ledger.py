"""What workers really did, beside what they recorded: a line a deed, in a file that all of them append to."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from app.sessions.step_scope import StepScope


@dataclass(frozen=True)
class Deed:
    """`what`: `step` (a worker took it up), `begin` or `end` (of a call's work). `fence`: of its drive."""

    what: str
    worker: str
    session: str
    fence: int
    seq: int
    key: str
    at: float


@dataclass
class Ledger:
    """A worker's pen. A line is shorter than what the kernel appends at once."""

    path: Path
    worker: str
    _file: int = field(init=False)

    def __post_init__(self) -> None:
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, what: str, step: StepScope, key: str = "") -> None:
        deed = Deed(what, self.worker, str(step.session.id), step.attempt, step.seq, key, time.monotonic())
        os.write(self._file, (json.dumps(list(vars(deed).values())) + "\n").encode())


@dataclass
class LedgerReader:
    """Reads on from where it was."""

    path: Path
    deeds: list[Deed] = field(default_factory=list)
    _at: int = 0

    def read(self) -> None:
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._at)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._at += len(whole)
        self.deeds.extend(Deed(*json.loads(line)) for line in whole.splitlines())

    def newest(self) -> dict[str, Deed]:
        """Of each session, the last deed."""
        return {deed.session: deed for deed in self.deeds}

    def begun(self) -> Iterator[Deed]:
        return (deed for deed in self.deeds if deed.what == "begin")
