"""Direct modes: messages that are executed as they stand, without an agent."""

import re
from typing import NamedTuple

from pydantic import ValidationError

from app.errors import InvalidInput
from app.plans.plan import Plan
from app.threads.schemas import Mode

_PREFIX = re.compile(r"\s*(SQL|PYTHON|PLAN):", re.IGNORECASE)
_FENCE = re.compile(r"```[a-z]*[ \t]*\n(.*?)\n?```\s*", re.IGNORECASE | re.DOTALL)


class ModedText(NamedTuple):
    """A message without its prefix, and the mode that the prefix or the request names."""

    mode: Mode
    text: str


def split_mode(message: str, mode: Mode | None) -> ModedText:
    """Take the prefix of a direct mode and a code fence off a message. Raises InvalidInput.

    A mode of the request precedes a prefix; a plan is checked here, so that a wrong one makes no turn.
    """
    prefix = _PREFIX.match(message)
    if mode is None and prefix is None:
        return ModedText("auto", message)
    selected = mode or _MODES[prefix[1].casefold()] if prefix else mode or "auto"
    if selected == "auto":
        return ModedText("auto", message)
    # The prefix of another mode than the request's is left in place: it is part of the code.
    code = message[prefix.end() :] if prefix and _MODES[prefix[1].casefold()] == selected else message
    fence = _FENCE.fullmatch(code.strip())
    code = (fence[1] if fence else code).strip()
    if not code:
        raise InvalidInput("empty_code", f"There is no code after `{selected.upper()}:`.", field="message")
    if selected == "plan":
        code = _check_plan(code)
    return ModedText(selected, code)


_MODES: dict[str, Mode] = {"sql": "sql", "python": "python", "plan": "plan"}


def _check_plan(code: str) -> str:
    """Return the JSON of a valid plan. Raises InvalidInput with the place of the first fault."""
    try:
        return Plan.model_validate_json(code).model_dump_json(exclude_defaults=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "plan"
        raise InvalidInput(
            "plan_invalid",
            f"{place}: {first['msg']}. GET /query-plans/schema describes the language.",
            field="message",
            place=place,
        ) from error
