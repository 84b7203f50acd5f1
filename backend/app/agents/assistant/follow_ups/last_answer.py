"""The newest result of a conversation, which follow-ups change."""

from collections.abc import Sequence
from typing import NamedTuple

from app.agents.assistant.brief import EarlierTurn, LastChart
from app.plans.plan import Plan


class LastAnswer(NamedTuple):
    """The newest result: its plan, the chart that it was drawn as, and the message that it answers."""

    plan: Plan
    columns: Sequence[str]
    chart: LastChart | None
    message: str


def find_last_answer(earlier: Sequence[EarlierTurn]) -> LastAnswer | None:
    """Find the newest result; None if it was that of a program or of SQL, which have no plan."""
    for turn in reversed(earlier):
        if turn.has_result:
            plan = Plan.model_validate(turn.plan) if turn.plan else None
            return LastAnswer(plan, turn.columns, turn.chart, turn.message) if plan else None
    return None
