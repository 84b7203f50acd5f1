"""Reasons why a JSON file cannot be read, with the line of the fault."""

import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path

from app.errors import InvalidInput

MAX_PARSED_BYTES = 16 << 20
"""Size of a file that is parsed again to place its fault: Python objects take ten times as much."""
MAX_LINE_CHARS = 8 << 20
"""Characters of a line that is parsed again."""
MIN_JSON_LINES = 3
"""Lines with one object each by which the lines of a file are known as JSON."""
MAX_SHOWN_CHARS = 60
"""Characters of a broken line that a message shows."""
_LINE_NUMBER = re.compile(r"in line (\d{1,12})")
_COMMENT = re.compile(r"\s*+(?://[^\n]*+\n\s*+|/\*(?:[^*]|\*(?!/))*+\*/\s*+)++[\[{]")


def refuse_broken_json(path: Path, reason: str) -> None:
    """Raise InvalidInput `damaged_file` with the line of the fault, where it can be placed.

    `reason`: the message of DuckDB, whose numbers of lines are a line off.
    """
    if match := _LINE_NUMBER.search(reason):
        _refuse_line(path, int(match[1]))
    elif path.stat().st_size <= MAX_PARSED_BYTES:
        text = path.read_text(encoding="utf-8")
        try:
            json.loads(text)
        except (ValueError, RecursionError) as error:
            raise broken_json(error) from error


def broken_json(error: ValueError | RecursionError) -> InvalidInput:
    """The refusal for an error of Python's reader of JSON."""
    if not isinstance(error, json.JSONDecodeError):
        return InvalidInput("damaged_file", f"The JSON file cannot be read: {str(error)[:200]}")
    where = f"line {error.lineno:,}, column {error.colno:,}"
    if not error.doc[error.pos :].strip() or error.msg.startswith("Unterminated"):
        return InvalidInput(
            "damaged_file",
            f"The JSON file is cut short: a value is not closed ({where}). Download or send it again.",
            line=error.lineno,
        )
    return InvalidInput(
        "damaged_file",
        f"The JSON file cannot be read: {error.msg} ({where}). Repair that place.",
        line=error.lineno,
    )


def _refuse_line(path: Path, number: int) -> None:
    with path.open(encoding="utf-8", newline="\n") as file:
        for place, line in enumerate(
            itertools.islice(file, max(0, number - 3), number + 1), max(1, number - 2)
        ):
            if not line.strip() or len(line) > MAX_LINE_CHARS:
                continue
            try:
                json.loads(line)
            except (ValueError, RecursionError) as error:
                raise _broken_line(place, line) from error


def _broken_line(number: int, line: str) -> InvalidInput:
    text = line.strip()[:MAX_SHOWN_CHARS]
    return InvalidInput(
        "damaged_file",
        f"Line {number:,} of the file is no complete JSON value ({text!r}), as the other lines are: repair or"
        " remove it.",
        line=number,
    )


def refuse_unlike_json(head: str, *, is_complete: bool) -> None:
    """Raise InvalidInput for a text that is JSON but for its first line: a comment, or a broken line."""
    if _COMMENT.match(head):
        raise InvalidInput(
            "damaged_file", "The JSON file begins with a comment, which JSON has none of: remove the comment."
        )
    lines = head.splitlines()
    lines = lines if is_complete else lines[:-1]
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if len(numbered) > MIN_JSON_LINES and _are_objects([line for _, line in numbered[1:]][:MIN_JSON_LINES]):
        raise _broken_line(*numbered[0])


def _are_objects(lines: Sequence[str]) -> bool:
    try:
        return all(line.lstrip().startswith("{") and isinstance(json.loads(line), dict) for line in lines)
    except (ValueError, RecursionError):
        return False


def refuse_empty(head: str) -> None:
    """Raise InvalidInput `no_rows` for an empty list or object."""
    if "".join(head.split()) in ("{}", "[]", "[{}]"):
        raise InvalidInput("no_rows", "The JSON file is complete, and has no rows in it.")
