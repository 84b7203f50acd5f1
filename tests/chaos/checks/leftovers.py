"""Checks of leftovers: processes, temporary files, rows that name missing bytes."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.chaos.checks.rows import Verdict

from app.db.pool import Database
from app.storage.folder import FolderBlobs

_REFERENCED_DIGESTS = """
select digest, 'artifact ' || id as by from artifacts
union select digest, 'dataset ' || id from datasets
union select (regexp_matches(result::text, '"digest": ?"([0-9a-f]{64})"', 'g'))[1], 'fit ' || name from fits
  where result is not null
"""


async def judge_blobs(db: Database, folder: Path) -> tuple[list[Verdict], int]:
    """Also, how many blobs are named."""
    store = FolderBlobs(folder)
    wrong = []
    rows = await db.rows(_REFERENCED_DIGESTS)
    for row in rows:
        if problem := await _problem(store, row["digest"]):
            wrong.append(f"{row['by']}: {row['digest'][:12]} {problem}")
    return [Verdict("every blob that a row names is there and whole", wrong)], len({r["digest"] for r in rows})


async def _problem(store: FolderBlobs, digest: str) -> str:
    try:
        path = await store.local_path(digest)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
        return f"is not there: {error}"
    stored_digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return "" if stored_digest == digest else "has other bytes"


def judge_processes(folder: Path, late: list[str]) -> list[Verdict]:
    """After everybody was asked to stop."""
    return [
        Verdict("whoever is asked to stop does", late),
        Verdict("no process is left", [f"{pid}: {line}" for pid, line in processes_of(folder)]),
    ]


def processes_of(folder: Path) -> Iterator[tuple[int, str]]:
    """Processes that name the folder in their command or environment, cells too."""
    name = bytes(folder)
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (entry / "cmdline").read_bytes()
            if int(entry.name) != os.getpid() and (name in command or name in (entry / "environ").read_bytes()):
                yield int(entry.name), command.replace(b"\0", b" ").decode(errors="replace")


def judge_logs(folder: Path) -> list[Verdict]:
    """A fault is no excuse for what nobody expected: that is logged as an error with its traceback.

    A cancellation is no failure: SQLAlchemy tells of one that came while it closed a connection.
    """
    unexpected = [
        f"{log.name}: {line['event'].strip()}: {line.get('exception', '').strip()[-200:]}"
        for log in sorted((folder / "logs").glob("*.log"))
        for line in _lines(log)
        if line.get("level") == "error" and line.get("exception")
        if not line["exception"].endswith("CancelledError")
    ]
    return [Verdict("nothing broke that nobody expected to", unexpected)]


def _lines(log: Path) -> Iterator[dict[str, Any]]:
    for raw in log.read_text(errors="replace").splitlines():
        with suppress(ValueError):
            line = json.loads(raw)
            if isinstance(line, dict):
                yield line


def judge_files(folder: Path) -> list[Verdict]:
    scratch = folder / "home" / "cells" / "scratch"
    leftovers = [*scratch.glob("*"), *(folder / "blobs").rglob(".*")]
    return [Verdict("no temporary file is left", [str(path.relative_to(folder)) for path in leftovers])]
