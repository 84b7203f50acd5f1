"""A question of the crew, put to whoever sits at the terminal."""

import json
from collections.abc import Callable
from typing import Any

from rich.console import Console

from app.cli.sanitize import harmless, plain
from app.cli.session_progress import Json


def put(question: Json, console: Console, read: Callable[[str], str]) -> Any:
    """The answer as JSON: an option by its number or its text, or what was typed; nothing is the default.

    `read` is given a prompt that is no markup.
    """
    console.print(f"\n[bold]{plain(question['agent'].replace('_', ' '))} asks:[/] {plain(question['text'])}")
    options: list[Any] = question.get("options") or []
    for number, option in enumerate(options, 1):
        console.print(f"  {number}. {plain(as_text(option))}")
    default = question.get("default")
    hint = "" if default is None else f" [{harmless(as_text(default))}]"
    return understood(
        read(f"Your answer{hint}: ").strip(), options, default, question.get("answer_schema") or {}
    )


def understood(typed: str, options: list[Any], default: Any, schema: Json) -> Any:
    """Convert typed text to an answer: an option by number or text, or a value by the schema."""
    if not typed:
        return default
    if typed.isdigit() and 1 <= int(typed) <= len(options):
        return options[int(typed) - 1]
    for option in options:
        if as_text(option).casefold() == typed.casefold():
            return option
    if schema.get("type") == "string":
        return typed
    if schema.get("type") == "boolean" and typed.casefold() in _YES | _NO:
        return typed.casefold() in _YES
    try:
        return json.loads(typed)
    except ValueError:
        return typed


_YES = {"y", "yes", "true"}
_NO = {"n", "no", "false"}


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
