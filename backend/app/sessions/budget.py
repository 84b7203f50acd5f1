"""What a session may use, and what is said when that is used up. Pure.

Four resources: tokens and cost of chat models, tool calls, and seconds of work. One that is used up is asked
about: the user adds to it, or the session ends with what there is. Without tokens or money the offline policies
go on in the agents' place; without tool calls or seconds only what an ending needs still runs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from app.errors import InvalidInput
from app.json_types import JsonValue
from app.sessions.events.events import BudgetWarning
from app.sessions.step_scope import Question


class Resource(StrEnum):
    TOKENS = "tokens"
    COST = "cost_usd"
    TOOL_CALLS = "tool_calls"
    SECONDS = "seconds"


Amounts = Mapping[Resource, float]

NEEDS: Mapping[str, tuple[Resource, ...]] = {
    "chat": (Resource.TOKENS, Resource.COST, Resource.SECONDS),
    "tool": (Resource.TOOL_CALLS, Resource.SECONDS),
}
"""Kind of call -> what it uses."""

REPORT = "report"
WARN_AT = 0.8
_SAID: Mapping[Resource, str] = {
    Resource.TOKENS: "{:,.0f} tokens",
    Resource.COST: "{:,.2f} USD",
    Resource.TOOL_CALLS: "{:,.0f} tool calls",
    Resource.SECONDS: "{:,.0f} seconds",
}


def resolve_budget(
    requested: Mapping[str, float | None], default: Mapping[str, float], maximum: Amounts
) -> dict[str, float]:
    """The budget of a new session: what was asked for, else what is usual here, never more than `most`.

    A resource without any of them has no limit. Raises InvalidInput for more than the operator allows.
    """
    budget: dict[str, float] = {}
    for resource in Resource:
        wanted, bound = requested.get(resource.value), maximum.get(resource)
        if wanted is not None and bound is not None and wanted > bound:
            raise InvalidInput(
                "budget_too_large",
                f"preferences.budget.{resource} is {wanted:g}, and this service allows {bound:g} at most.",
                field=f"preferences.budget.{resource}",
                limit=bound,
            )
        limits = [one for one in (default.get(resource.value), bound) if one is not None]
        if wanted is not None or limits:
            budget[resource.value] = wanted if wanted is not None else min(limits)
    return budget


def read_extra_seconds(question: str, answer: JsonValue) -> float:
    """By how much the answer to the question of that key moves the session's time limit."""
    return _added(answer) if f"budget:{Resource.SECONDS}:" in question else 0.0


def _added(answer: JsonValue) -> float:
    return float(answer) if isinstance(answer, int | float) and not isinstance(answer, bool) else 0.0


@dataclass
class BudgetLedger:
    """What one session may use and has used, as its driver keeps it.

    `limits` grow by what the user adds. `most`: how far. `finished`: resources that are used up and of which
    the user wants no more. `asked`: how often each was answered about. `warned`: limits that were warned of.
    """

    limits: dict[Resource, float]
    maximum: Amounts = field(default_factory=dict)
    spent: dict[Resource, float] = field(default_factory=dict)
    exhausted: set[Resource] = field(default_factory=set)
    answer_counts: dict[Resource, int] = field(default_factory=dict)
    warned_limits: set[tuple[str, float]] = field(default_factory=set)

    def used(self, resource: Resource, worked_s: float) -> float:
        return worked_s if resource is Resource.SECONDS else self.spent.get(resource, 0.0)

    def is_wrapping_up(self, kind: str) -> bool:
        """Was the session told to end without more calls of that kind?"""
        needed = NEEDS["tool"] if kind == "tool" else (*NEEDS["chat"], *NEEDS["tool"])
        return not self.exhausted.isdisjoint(needed)

    def find_exhausted(self, kind: str, worked_s: float) -> Resource | None:
        """What such a call needs and there is no more of, if it has not been settled yet."""
        for resource in NEEDS[kind]:
            limit = self.limits.get(resource)
            if limit is not None and self.used(resource, worked_s) >= limit:
                return resource
        return None

    def max_increase(self, resource: Resource) -> float | None:
        """How much may still be added; None is no bound."""
        most = self.maximum.get(resource)
        return None if most is None else max(0.0, most - self.limits[resource])

    def add(self, kind: str, usage: Mapping[str, float]) -> None:
        for resource, amount in measure_call(kind, usage).items():
            self.spent[resource] = self.spent.get(resource, 0.0) + amount

    def apply_answer(self, resource: Resource, answer: JsonValue) -> None:
        """Take the answer of one question into account."""
        self.answer_counts[resource] = self.answer_counts.get(resource, 0) + 1
        if added := _added(answer):
            self.limits[resource] += added
        else:
            self.exhausted.add(resource)

    def make_warnings(self, kind: str, usage: Mapping[str, float], worked_s: float) -> list[BudgetWarning]:
        """What has passed 80 % of its limit with this call, each limit once."""
        due = []
        for resource, limit in self.limits.items():
            used = self.used(resource, worked_s) + measure_call(kind, usage).get(resource, 0.0)
            if used >= WARN_AT * limit and (resource, limit) not in self.warned_limits:
                self.warned_limits.add((resource, limit))
                due.append(BudgetWarning(budget=resource, used=round(used, 6), limit=limit))
        return due

    def make_question(self, resource: Resource, agent: str, worked_s: float) -> Question:
        """What to ask the user, who can only choose the default where nothing may be added."""
        room, limit, said = self.max_increase(resource), self.limits[resource], _SAID[resource]
        number: dict[str, JsonValue] = {"type": "number", "exclusiveMinimum": 0}
        more = ""
        if room is not None:
            number["maximum"] = room
            more = f" (at most {said.format(room)})"
        return Question(
            key=f"budget:{resource}:{self.answer_counts.get(resource, 0)}",
            agent=agent,
            text=f"The session has used {said.format(self.used(resource, worked_s))}, and its budget was "
            f"{said.format(limit)}. Answer with a number to add so many{more}, or with `{REPORT}` to end with "
            "what there is.",
            answer_schema={"anyOf": [number, {"const": REPORT}]},
            options=[REPORT, limit if room is None else min(limit, room)],
            default=REPORT,
            kind="budget",
        )


def measure_call(kind: str, usage: Mapping[str, float]) -> dict[Resource, float]:
    """What one recorded call used of each resource; seconds are the clock's."""
    if kind == "tool":
        return {Resource.TOOL_CALLS: 1}
    if kind != "chat":
        return {}
    tokens = usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
    return {Resource.TOKENS: tokens, Resource.COST: usage.get("cost_usd", 0.0)}


def make_ledger(
    budget: Mapping[str, float], answers: Iterable[tuple[str, JsonValue]], maximum: Amounts | None = None
) -> BudgetLedger:
    """The limits of a session's own budget, with what its answers (resource, answer) came to."""
    ledger = BudgetLedger({Resource(name): float(amount) for name, amount in budget.items()}, maximum or {})
    for name, answer in answers:
        ledger.apply_answer(Resource(name), answer)
    return ledger
