"""Examples of failures in the OpenAPI document: each is one that the service really answers."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from app.api.openapi import problem_examples
from app.main import create_app
from app.settings import Settings

BACKEND = Path(problem_examples.__file__).parents[2]
MEDIA_TYPE = "application/problem+json"
COMPUTED = {"body_too_large", "database_unavailable", "invalid_request", "too_slow"}
"""Codes whose detail is computed where it is made; they are the same in all operations."""
_TEXT = (ast.Constant, ast.JoinedStr)


@cache
def failures() -> list[tuple[str, dict[str, Any]]]:
    """Each failure of each operation, with its name."""
    document = create_app(Settings()).openapi()
    return [
        (f"{status} {operation['operationId']}", response["content"][MEDIA_TYPE])
        for operations in document["paths"].values()
        for operation in operations.values()
        for status, response in operation["responses"].items()
        if MEDIA_TYPE in response.get("content", {})
    ]


def pattern_of(node: ast.expr) -> str:
    """A pattern of the texts of a string or an f-string; of any other expression, any text."""
    match node:
        case ast.Constant(value=str(text)):
            return re.escape(text)
        case ast.JoinedStr(values=parts):
            return "".join(pattern_of(part) for part in parts)
        case _:
            return ".*"


def raised_problems() -> Iterator[tuple[str, str]]:
    """Patterns of code and detail of each problem that the code makes: two neighbours of a call's arguments."""
    for path in BACKEND.rglob("*.py"):
        if path.samefile(problem_examples.__file__):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                for code, detail in zip(node.args, node.args[1:], strict=False):
                    if isinstance(code, _TEXT) and isinstance(detail, _TEXT):
                        yield pattern_of(code), pattern_of(detail)


def test_every_failure_has_an_example() -> None:
    assert [name for name, content in failures() if "example" not in content] == []


def test_every_example_is_a_problem_that_the_code_makes() -> None:
    examples = {(content["example"]["code"], content["example"]["detail"]) for _, content in failures()}
    raised = {(code, detail) for code, detail in raised_problems() if code != ".*"}
    unknown = [
        (code, text)
        for code, text in examples
        if code not in COMPUTED
        and not any(
            re.fullmatch(made, code) and re.fullmatch(detail, text, re.DOTALL) for made, detail in raised
        )
    ]
    assert unknown == []


def test_examples_name_their_status() -> None:
    for name, content in failures():
        assert name.startswith(f"{content['example']['status']} ")
