"""Looks at the hold-out of a family of forks: every one is numbered before the hold-out is opened."""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from app.db.pool import Database
from app.sessions.fork_record import read_fork
from app.sessions.statements import FORKS


class LookKind(StrEnum):
    """A way to open a hold-out. Each counts once for a session."""

    FINAL = "final"
    """The final evaluation of a study."""
    FRAME = "frame"
    """A program or query inside an ended session, which reads the hold-out as a frame."""
    DOWNLOAD = "download"
    PREDICT = "predict"
    """Predictions for the rows of the hold-out."""


AFTER_END = 0
"""Step of a look after the end of the session: each kind counts once."""


class LookRow(NamedTuple):
    """`forks_after_look`: forks of the family that began after its first look."""

    number: int
    forks_after_look: int


class SiblingRow(NamedTuple):
    """`fork` and `score`: JSON."""

    id: UUID
    fork: str | None
    metric: str
    rows: int
    score: str


@dataclass(frozen=True)
class HoldoutLooks:
    """The looks of one session's family."""

    db: Database

    async def count(self, session_id: UUID, step: int, kind: LookKind) -> dict[str, Any] | None:
        """Number a look, or read the number of one that was counted before. None for a session that is gone.

        `{number, forks_after_look, siblings: [{session, change, metric, rows, value, low, high, looks}]}`:
        siblings are the other members of the family that were evaluated before, with intervals for `looks`.
        """
        number = await self.db.value(FORKS.count_look, session_id, step, kind)
        row = await self.db.row(FORKS.describe_look, session_id, number) if number is not None else None
        if row is None:
            return None
        siblings = [SiblingRow(**sibling) for sibling in await self.db.rows(FORKS.find_siblings, session_id)]
        return {**LookRow(**row)._asdict(), "siblings": [_describe(sibling) for sibling in siblings]}


def _describe(row: SiblingRow) -> dict[str, Any]:
    fork, score = read_fork(row.fork), json.loads(row.score)
    return {
        "session": str(row.id),
        "change": dict(fork.change) if fork else {},
        "metric": row.metric,
        "rows": row.rows,
        **{name: score.get(name) for name in ("value", "low", "high")},
        "looks": score.get("looks", 1),
    }
