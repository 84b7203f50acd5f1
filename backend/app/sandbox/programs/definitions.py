"""Definitions of a program: statements that later programs run again, as source is all that is stored."""

import ast
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, ModuleType
from typing import Any

from app.sandbox.policy.language.compiler import compile_code

MAX_SOURCE_CHARACTERS = 10_000
"""Characters of one definition: every snapshot of the conversation holds them all."""


def find_definitions(source: str) -> dict[str, str]:
    """Find the names whose last statement at the top of a program is an import, `def`, `class` or lambda.

    Returns `{name: statement}`, written anew without comments.
    """
    definitions: dict[str, str] = {}
    for statement in ast.parse(source).body:
        names = [*_defined_names(statement)]
        if names:
            text = ast.unparse(statement)
            definitions |= dict.fromkeys(names, text)
        else:
            for name in _bound_names(statement):
                # A later assignment of the name takes the place of the definition.
                definitions.pop(name, None)
    return {name: text for name, text in definitions.items() if len(text) <= MAX_SOURCE_CHARACTERS}


def is_definition(value: object) -> bool:
    return callable(value) or isinstance(value, ModuleType)


def run_definitions(
    sources: Sequence[str], variables: dict[str, Any], execute: Callable[[CodeType, dict[str, Any]], None]
) -> None:
    """Run definitions in order; one that needs a later one runs after it, one that fails is left out."""
    waiting = [*dict.fromkeys(sources)]
    while waiting:
        failed = [source for source in waiting if not _succeeds(source, variables, execute)]
        # No round without progress: what is left needs something that is no more.
        if len(failed) == len(waiting):
            return
        waiting = failed


def _succeeds(
    source: str, variables: dict[str, Any], execute: Callable[[CodeType, dict[str, Any]], None]
) -> bool:
    try:
        execute(compile_code(source), variables)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - whatever the user's statement raises: its name is not there, as after `del`
        return False
    return True


def _defined_names(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in aliases)
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda()):
            yield name


def _bound_names(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id


def describe_definition(value: object, source: str) -> tuple[str, str]:
    """Return the kind of a definition and its first line."""
    kind = "module" if isinstance(value, ModuleType) else "class" if isinstance(value, type) else "function"
    return kind, source.partition("\n")[0][:200]
