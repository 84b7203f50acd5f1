"""Text that libraries evaluate or look up names by: `query`, `agg("name")`, model formulas."""

import functools
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from RestrictedPython.transformer import INSPECT_ATTRIBUTES

from app.sandbox.policy.allowed import (
    DENIED_ATTRIBUTES,
    DISPATCHERS,
    EXPRESSIONS,
    FORMULA_CALLS,
    FORMULA_METHODS,
    FORMULA_MODULES,
)

_WORD = re.compile(r"@?\s*[A-Za-z_][\w]*|`[^`]*`|'[^']*'|\"[^\"]*\"")


def check_name(name: str) -> None:
    """Raises AttributeError for a name that no code may read, however it is spelt."""
    if type(name) is not str:
        raise TypeError("an attribute's name must be a str")
    if name.startswith("_") or name in INSPECT_ATTRIBUTES or name in DENIED_ATTRIBUTES:
        raise AttributeError(f"{name!r} is not accessible here")


def watched(owner: Any, name: str, value: Callable[..., Any]) -> Callable[..., Any]:
    """`value`, behind a check of the text that it would evaluate or look up."""
    if name in EXPRESSIONS and not isinstance(owner, types.ModuleType):
        return functools.partial(_evaluate, value)
    if name in DISPATCHERS:
        return functools.partial(_dispatch, value)
    in_formulas = isinstance(owner, types.ModuleType) and owner.__name__.startswith(FORMULA_MODULES)
    if name in FORMULA_METHODS or in_formulas:
        return functools.partial(_fit_formula, value)
    return value


def _evaluate(method: Callable[..., Any], expression: str, **options: bool) -> Any:
    """`frame.query(expression)`; `@name` finds the plain data of the code that asks."""
    if type(expression) is not str:
        raise TypeError("the expression must be a str")
    asked = set()
    for name, before, after in _words(expression):
        if before == "." or name.startswith("_"):
            check_name(name)
        if name.startswith("@"):
            asked.add(name.lstrip("@ "))
            if after in (".", "(", "["):
                raise ValueError("only a plain @name is allowed in an expression here")
    if options.keys() - {"inplace"}:
        raise ValueError("an expression takes no options here: refer to variables by @name")
    return method(expression, **options, engine="python", local_dict=_data_of_caller(asked))


def _words(expression: str) -> Iterator[tuple[str, str, str]]:
    """Each name of an expression, with the characters before and after it; quoted text is skipped."""
    for found in _WORD.finditer(expression):
        word = found.group()
        if word[0] not in "'\"`":
            before = expression[: found.start()].rstrip()[-1:]
            after = expression[found.end() :].lstrip()[:1]
            yield word, before, after


def _data_of_caller(names: set[str]) -> dict[str, Any]:
    frame = sys._getframe(2)
    seen = {name: value for scope in (frame.f_globals, frame.f_locals) for name, value in scope.items()}
    return {name: seen[name] for name in names if name in seen and not callable(seen[name])}


def _dispatch(method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """`frame.agg("mean")`: the text names an attribute."""
    for value in (*arguments[:1], *named.values()):
        for name in _texts(value):
            if name in EXPRESSIONS or name in DISPATCHERS:
                raise AttributeError(f"{name!r} is not accessible here")
            check_name(name)
    return method(*arguments, **named)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield str(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _texts(item)


def _fit_formula(method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """`ols("y ~ C(x)", frame)`: the formula is evaluated as Python."""
    for value in (*arguments, *named.values()):
        if isinstance(value, str):
            _check_formula(str(value))
    return method(*arguments, **named)


def _check_formula(formula: str) -> None:
    for found in re.finditer(r"([A-Za-z_][\w.]*)\s*(\(?)", formula):
        name, call = found.groups()
        if call and name not in FORMULA_CALLS:
            raise ValueError(f"{name!r} cannot be called in a formula here; allowed: {sorted(FORMULA_CALLS)}")
        if any(part.startswith("__") for part in name.split(".")) or ("." in name and not call):
            raise ValueError(f"{name!r} is not allowed in a formula here")
    if re.search(r"[)\]}\"']\s*[.(\[]", formula):
        raise ValueError("a formula may not call or read from the result of an expression here")
