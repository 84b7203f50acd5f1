"""The budget of a session: limits, usage, and the question that is asked when a resource is used up. Pure.

There are four resources: tokens and cost of chat models, tool calls, and seconds of work. When one is used up,
the user adds to it, or the session ends with its present results. Without tokens or money the offline policies
replace the agents; without tool calls or seconds only what the ending needs still runs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.json_types import JsonValue
from app.sessions.budget_resources import Amounts, Resource
from app.sessions.events.events import BudgetWarning
from app.sessions.step_scope import Question

NEEDS: Mapping[str, tuple[Resource, ...]] = {
    "chat": (Resource.TOKENS, Resource.COST, Resource.SECONDS),
    "tool": (Resource.TOOL_CALLS, Resource.SECONDS),
}
"""Kind of call -> resources that it uses."""

REPORT = "report"
"""Answer that ends the session instead of adding to its budget."""
WARN_AT = 0.8
"""Share of a limit at which the user is warned: early enough to add to it before the session waits."""
_AMOUNT_FORMATS: Mapping[Resource, str] = {
    Resource.TOKENS: "{:,.0f} tokens",
    Resource.COST: "{:,.2f} USD",
    Resource.TOOL_CALLS: "{:,.0f} tool calls",
    Resource.SECONDS: "{:,.0f} seconds",
}


def read_extra_seconds(question: str, answer: JsonValue) -> float:
    """Return the seconds that an answer adds to the session's time limit. `question`: its key."""
    return _read_increase(answer) if f"budget:{Resource.SECONDS}:" in question else 0.0


def _read_increase(answer: JsonValue) -> float:
    # To Python, True is an int.
    return float(answer) if isinstance(answer, int | float) and not isinstance(answer, bool) else 0.0


@dataclass
class BudgetLedger:
    """Limits and usage of one session, as its driver tracks them.

    `limits` grow by what the user adds, up to `maximum`. `exhausted`: resources that are used up and to which
    the user adds no more. `answer_counts`: answers about each resource. `warned_limits`: limits with a warning.
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
        """Check if the session has to end without more calls of that kind."""
        # An agent that may call no tool has nothing to decide, so its chat model is not asked either.
        needed = NEEDS["tool"] if kind == "tool" else (*NEEDS["chat"], *NEEDS["tool"])
        return not self.exhausted.isdisjoint(needed)

    def find_exhausted(self, kind: str, worked_s: float) -> Resource | None:
        """Return the first resource of such a call that has reached its limit, or None."""
        for resource in NEEDS[kind]:
            limit = self.limits.get(resource)
            if limit is not None and self.used(resource, worked_s) >= limit:
                return resource
        return None

    def max_increase(self, resource: Resource) -> float | None:
        """Return the amount that the user may still add; None without a bound."""
        maximum = self.maximum.get(resource)
        return None if maximum is None else max(0.0, maximum - self.limits[resource])

    def add(self, kind: str, usage: Mapping[str, float]) -> None:
        for resource, amount in measure_call(kind, usage).items():
            self.spent[resource] = self.spent.get(resource, 0.0) + amount

    def apply_answer(self, resource: Resource, answer: JsonValue) -> None:
        """Raise the limit by the answer, or mark the resource as exhausted."""
        self.answer_counts[resource] = self.answer_counts.get(resource, 0) + 1
        if increase := _read_increase(answer):
            self.limits[resource] += increase
        else:
            self.exhausted.add(resource)

    def make_warnings(self, kind: str, usage: Mapping[str, float], worked_s: float) -> list[BudgetWarning]:
        """Return a warning for each limit of which this call reaches the share WARN_AT, once per limit."""
        warnings = []
        for resource, limit in self.limits.items():
            used = self.used(resource, worked_s) + measure_call(kind, usage).get(resource, 0.0)
            if used >= WARN_AT * limit and (resource, limit) not in self.warned_limits:
                # Before the event is a row: a write that fails ends the drive, and the next one reads rows.
                self.warned_limits.add((resource, limit))
                warnings.append(BudgetWarning(budget=resource, used=round(used, 6), limit=limit))
        return warnings

    def make_question(self, resource: Resource, agent: str, worked_s: float) -> Question:
        """Make the question about a used-up resource. Where nothing may be added, only its default is valid."""
        increase, limit, style = self.max_increase(resource), self.limits[resource], _AMOUNT_FORMATS[resource]
        number: dict[str, JsonValue] = {"type": "number", "exclusiveMinimum": 0}
        bound = ""
        if increase is not None:
            number["maximum"] = increase
            bound = f" (at most {style.format(increase)})"
        return Question(
            # Each answer is a row of its own, so the next question about a resource needs another key.
            key=f"budget:{resource}:{self.answer_counts.get(resource, 0)}",
            agent=agent,
            text=f"The session has used {style.format(self.used(resource, worked_s))} of a budget of "
            f"{style.format(limit)}. Answer with the number to add{bound}, or with `{REPORT}` to end with "
            "the present results.",
            answer_schema={"anyOf": [number, {"const": REPORT}]},
            options=[REPORT, limit if increase is None else min(limit, increase)],
            default=REPORT,
            kind="budget",
        )


def measure_call(kind: str, usage: Mapping[str, float]) -> dict[Resource, float]:
    """Return the amounts that one recorded call used. Seconds are not counted by calls but by the clock."""
    if kind == "tool":
        return {Resource.TOOL_CALLS: 1}
    if kind != "chat":
        return {}
    tokens = usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
    return {Resource.TOKENS: tokens, Resource.COST: usage.get("cost_usd", 0.0)}


def make_ledger(
    budget: Mapping[str, float], answers: Iterable[tuple[str, JsonValue]], maximum: Amounts | None = None
) -> BudgetLedger:
    """Make the ledger of a session from its own budget and its answers (resource, answer) so far."""
    ledger = BudgetLedger({Resource(name): float(amount) for name, amount in budget.items()}, maximum or {})
    for name, answer in answers:
        ledger.apply_answer(Resource(name), answer)
    return ledger
