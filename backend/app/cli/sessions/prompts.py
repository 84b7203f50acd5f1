"""Prompts: a question of the crew, answered at the terminal."""

import json
from collections.abc import Callable
from typing import Any

from rich.console import Console

from app.cli.api_client.received_events import QuestionEvent
from app.cli.api_client.responses import Json
from app.cli.terminal.sanitize import harmless, plain


def put(question: QuestionEvent, console: Console, read: Callable[[str], str]) -> Any:
    """Ask a question and return the answer as JSON. An empty input is the default.

    `read` receives a prompt without markup.
    """
    show_question(question, console)
    options = list(question.options)
    hint = "" if question.default is None else f" [{harmless(as_text(question.default))}]"
    typed = read(f"Your answer{hint}: ").strip()
    return parse_answer(typed, options, question.default, question.answer_schema)


def show_question(question: QuestionEvent, console: Console) -> None:
    """Print a question with its options, and before a plan what it is for: that is what a user agrees to."""
    console.print()
    if question.understanding:
        console.print(f"[bold]Understood:[/] {plain(question.understanding)}")
    console.print(f"[bold]The {plain(question.agent.replace('_', ' '))} asks:[/] {plain(question.text)}")
    for number, option in enumerate(question.options, 1):
        console.print(f"  {number}. {plain(as_text(option))}")


def parse_answer(typed: str, options: list[Any], default: Any, schema: Json) -> Any:
    """Convert typed text to an answer: an option by number or text, or a value by the schema."""
    if not typed:
        return default
    # A number goes before a text, since the list shows numbers.
    if typed.isdigit() and 1 <= int(typed) <= len(options):
        return options[int(typed) - 1]
    for option in options:
        if as_text(option).casefold() == typed.casefold():
            return option
    # Before JSON: a column named `2024` or `true` stays a text.
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
