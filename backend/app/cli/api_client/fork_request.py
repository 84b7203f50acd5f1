"""The request of `labcrew fork`, and its answer."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from app.cli.api_client.responses import ApiDocument
from app.errors import InvalidInput

QUESTION_KEY = re.compile(r"\d+\.")
"""The beginning of the key of a question: the step that asked it."""


class NamedStep(Protocol):
    """A recorded step; `node` is its stage."""

    @property
    def step(self) -> int: ...
    @property
    def node(self) -> str: ...


class CreatedFork(ApiDocument):
    """A new fork. `notes`: what of its change has no effect."""

    id: str
    forked_from: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ForkOptions:
    """The point and the change of a fork as the command line has them; None or empty for what stays."""

    at: str | None
    leave_out: Sequence[str] = ()
    metric: str | None = None
    families: Sequence[str] = ()
    budget_s: float | None = None
    note: str | None = None
    answer: str | None = None

    def make_request(self, steps: Sequence[NamedStep] = ()) -> dict[str, Any]:
        """Return the body of the request to fork a session with these steps. Raises InvalidInput."""
        settings = {"leave_out": [*self.leave_out], "metric": self.metric, "families": [*self.families]}
        change: dict[str, Any] = {
            "settings": _filled(settings),
            "preferences": _filled({"time_budget_s": self.budget_s}),
            "note": self.note,
        }
        request = {"at": find_point(self.at, steps), "change": _filled(change)}
        if self.answer is not None:
            request["change"]["answer"] = _read_answer(self.answer)
        return request


def find_point(at: str | None, steps: Sequence[NamedStep]) -> dict[str, Any]:
    """Return the point that is meant by a number, a stage (its last step) or the key of a question.

    A part of a stage's name will do if it is in no other's. Raises InvalidInput that lists the steps.
    """
    name = "_".join((at or "").lower().replace("-", " ").split())
    if name.isascii() and name.isdigit():
        return {"step": int(name)}
    if at and QUESTION_KEY.match(at):
        return {"question": at}
    stages = list(dict.fromkeys(step.node for step in steps))
    # A whole name first: it is not ambiguous because another stage contains it.
    candidates = [name] if name in stages else [stage for stage in stages if name and name in stage]
    if len(candidates) == 1:
        # A stage that was repeated has several steps; the last of them led to the result.
        return {"step": max(step.step for step in steps if step.node == candidates[0])}
    problem = f"No step is called {at!r}." if at and at.strip() else "Name the point to go back to."
    if len(candidates) > 1:
        problem = f"{at!r} may be {' or '.join(stage.replace('_', ' ') for stage in candidates)}."
    raise InvalidInput("no_point", f"{problem} {_describe_points(steps)}")


def _describe_points(steps: Sequence[NamedStep]) -> str:
    points = ", ".join(f"{step.step} {step.node.replace('_', ' ')}" for step in steps)
    recorded = f"The session has recorded {points}. " if points else ""
    return (
        f"{recorded}Use --at with a step (`--at 4`), a stage (`--at training`) or the key of a question "
        "(`--at 1.ask:1`)."
    )


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, [], {})}


def _read_answer(text: str) -> Any:
    """Read a number, a JSON value, or else the text itself."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
