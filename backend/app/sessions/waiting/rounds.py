"""A round of fits as its session sees it: opened once, waited for, read in the order given."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from app.db.pool import Record
from app.sessions.events.serialization import dumps
from app.sessions.fenced_writer import FencedWriter, WriteResult, make_fenced_statement
from app.sessions.lease import LeaseLost
from app.sessions.statements import ROUNDS
from app.sessions.step_scope import Fit, FitOutcome


@dataclass(frozen=True)
class Round:
    """`outcomes` are complete when `open` is False. `opened` is what opening it wrote, if this was it."""

    key: str
    outcomes: list[FitOutcome]
    is_open: bool
    write: WriteResult | None = None


async def join_round(hold: FencedWriter, seq: int, key: str, fits: Sequence[Fit], deadline_s: float) -> Round:
    """The round of that key: opened if it is new, closed if its deadline has passed. Raises LeaseLost."""
    round_key = f"{seq}.{key}"
    if not fits:
        return Round(round_key, [], is_open=False)
    rows = await hold.db.rows(ROUNDS.read_round, hold.lease.facts.id, round_key)
    if not rows:
        return await _open(hold, seq, round_key, fits, deadline_s)
    if rows[0]["overdue"] and any(row["open"] for row in rows):
        if await hold.write(make_fenced_statement(ROUNDS.close_round), seq, (), round_key) is None:
            raise LeaseLost
        rows = await hold.db.rows(ROUNDS.read_round, hold.lease.facts.id, round_key)
    return Round(round_key, [_outcome(row) for row in rows], any(row["open"] for row in rows))


async def _open(hold: FencedWriter, seq: int, round_key: str, fits: Sequence[Fit], deadline_s: float) -> Round:
    names = [fit.name for fit in fits]
    specs = [dumps(asdict(fit), f"fit {fit.name}") for fit in fits]
    opened = await hold.write(
        make_fenced_statement(ROUNDS.open_round), seq, (), round_key, names, specs, deadline_s
    )
    if opened is None and not await hold.db.rows(ROUNDS.read_round, hold.lease.facts.id, round_key):
        raise LeaseLost
    return Round(round_key, [], is_open=True, write=opened)


def _outcome(row: Record) -> FitOutcome:
    result = json.loads(row["result"]) if row["result"] else {}
    left_out = "It did not come before the round's deadline." if row["status"] == "left_out" else ""
    return FitOutcome(
        name=row["name"],
        status=row["status"] if row["status"] in ("done", "left_out") else "failed",
        value=result.get("value"),
        files=result.get("files", {}),
        reason=result.get("reason", left_out),
        wall_s=result.get("wall_s", 0.0),
    )
