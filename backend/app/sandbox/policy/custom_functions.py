"""Custom code: functions that an agent wrote and the service calls. A program's policy, without files.

Features and estimators get the rows that they may see as arguments; a file could hold others.
"""

import types
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

from app.sandbox.policy.allow_lists import (
    CUSTOM_CODE_MODULES,
    FILE_MODULES,
    READER_PREFIXES,
    READERS,
    READERS_BY_TEXT,
    WRITERS,
)
from app.sandbox.policy.guards import access
from app.sandbox.policy.language.compiler import compile_code
from app.sandbox.policy.namespace import program_namespace

_MISSING = object()
_MAX_COMPILED = 64
"""Sources kept compiled in one process: a recipe with many features is defined for every batch of rows."""


def define(source: str) -> Mapping[str, Any]:
    """Execute the source in a fresh namespace and return that. Raises InvalidInput `code_not_allowed`."""
    variables = program_namespace()
    variables["__builtins__"] = {**variables["__builtins__"], **_BUILTINS}
    variables["_getattr_"] = _read_attribute
    exec(_compiled(source), variables)  # noqa: S102 (behind policy and isolation)
    return variables


@lru_cache(maxsize=_MAX_COMPILED)
def _compiled(source: str) -> CodeType:
    return compile_code(source)


def _import(
    name: str, globals: object = None, locals: object = None, fromlist: Sequence[str] = (), level: int = 0
) -> types.ModuleType:
    if type(name) is str and not _may_import(name):
        raise ImportError(f"import of {name!r} is not allowed in features and estimators")
    module = access.guarded_import(name, globals, locals, fromlist, level)
    for part in fromlist or ():
        _check(module, part)
    return module


def _may_import(name: str) -> bool:
    is_listed = any(name == module or name.startswith(f"{module}.") for module in CUSTOM_CODE_MODULES)
    return is_listed and not any(name == part or name.startswith(f"{part}.") for part in FILE_MODULES)


def _check(owner: Any, name: str) -> None:
    is_module = isinstance(owner, types.ModuleType)
    if name in WRITERS or (is_module and (name in READERS or name.startswith(READER_PREFIXES))):
        raise AttributeError(f"{name!r} is not allowed in features and estimators: they open no files")
    if is_module and name in READERS_BY_TEXT:
        raise AttributeError(f"{name!r} is not allowed in features and estimators: read the attribute itself")
    if is_module and f"{owner.__name__}.{name}" in FILE_MODULES:
        raise AttributeError(f"{owner.__name__}.{name} is not allowed in features and estimators")


def _read_attribute(owner: Any, name: str, default: Any = _MISSING) -> Any:
    if type(name) is str:
        _check(owner, name)
    if default is _MISSING:
        return access.read_attribute(owner, name)
    return access.read_attribute(owner, name, default)


def _has_attribute(owner: Any, name: str) -> bool:
    try:
        _read_attribute(owner, name)
    except AttributeError:
        return False
    return True


def _no_files(*_: object, **__: object) -> None:
    raise PermissionError("features and estimators open no files")


_BUILTINS: dict[str, Any] = {
    "__import__": _import,
    "getattr": _read_attribute,
    "hasattr": _has_attribute,
    "open": _no_files,
}
