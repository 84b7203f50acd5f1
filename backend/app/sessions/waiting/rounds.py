"""A round of fits as its session sees it: opened once, waited for, and read in the order of its candidates."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from app.sandbox.exchange.contract import Limits
from app.sessions.events.serialization import dumps
from app.sessions.fenced_writer import FencedWriter, WriteResult, make_fenced_statement
from app.sessions.lease import LeaseLost
from app.sessions.statements import ROUNDS
from app.sessions.step_scope import Fit, FitOutcome


class StoredFit(NamedTuple):
    """`result`: JSON; None while the fit is open. `overdue`: the deadline of its round has passed."""

    name: str
    status: str
    result: str | None
    open: bool
    overdue: bool


@dataclass(frozen=True)
class Round:
    """`outcomes` are complete if `is_open` is False. `write`: its opening; None if it was open before."""

    key: str
    outcomes: list[FitOutcome]
    is_open: bool
    write: WriteResult | None = None


async def join_round(writer: FencedWriter, seq: int, key: str, fits: Sequence[Fit], deadline_s: float) -> Round:
    """Open the round of that key, or read it; close it if its deadline has passed. Raises LeaseLost."""
    round_key = f"{seq}.{key}"
    # No last fit would ever wake the session.
    if not fits:
        return Round(round_key, [], is_open=False)
    rows = await _read_fits(writer, round_key)
    if not rows:
        return await _open(writer, seq, round_key, fits, deadline_s)
    # A fit that is still computed finds its row closed when it ends, and its result is dropped.
    if rows[0].overdue and any(row.open for row in rows):
        if await writer.write(make_fenced_statement(ROUNDS.close_round), seq, (), round_key) is None:
            raise LeaseLost
        rows = await _read_fits(writer, round_key)
    return Round(round_key, [_make_outcome(row) for row in rows], any(row.open for row in rows))


async def _open(
    writer: FencedWriter, seq: int, round_key: str, fits: Sequence[Fit], deadline_s: float
) -> Round:
    names = [fit.name for fit in fits]
    specs = [write_fit(fit) for fit in fits]
    write = await writer.write(
        make_fenced_statement(ROUNDS.open_round), seq, (), round_key, names, specs, deadline_s
    )
    # A refused write whose rows are there is a repeated one whose first reply was lost.
    if write is None and not await _read_fits(writer, round_key):
        raise LeaseLost
    return Round(round_key, [], is_open=True, write=write)


def write_fit(fit: Fit) -> str:
    """Write a fit as JSON. Limits with their default are left out: workers of before know fewer of them."""
    defaults = asdict(Limits())
    limits = {name: value for name, value in asdict(fit.limits).items() if value != defaults[name]}
    return dumps({**asdict(fit), "limits": limits}, f"fit {fit.name}")


async def _read_fits(writer: FencedWriter, round_key: str) -> list[StoredFit]:
    rows = await writer.db.rows(ROUNDS.read_round, writer.lease.facts.id, round_key)
    return [StoredFit(**row) for row in rows]


def _make_outcome(row: StoredFit) -> FitOutcome:
    result: dict[str, Any] = json.loads(row.result) if row.result else {}
    is_left_out = row.status == "left_out"
    reason = "It did not come before the round's deadline." if is_left_out else ""
    return FitOutcome(
        name=row.name,
        status=row.status if row.status == "done" or is_left_out else "failed",
        value=result.get("value"),
        files=result.get("files", {}),
        reason=result.get("reason", reason),
        wall_s=result.get("wall_s", 0.0),
    )
