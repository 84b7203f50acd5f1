"""Guards that compiled code calls instead of reading, writing and importing by itself."""

import _string  # type: ignore[import-not-found]  # what string.Formatter itself uses; no stub
import functools
import importlib
import pathlib
import string
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from app.sandbox.policy.allow_lists import IN_PLACE, MODULES, PARTIAL_ATTRIBUTES, SPECIAL_READS, TUPLE_NAMES
from app.sandbox.policy.guards.module_views import MISSING, ModuleView, read_from_module, view_of
from app.sandbox.policy.libraries.attribute_names import plain_getattr, plain_setattr
from app.sandbox.policy.names.private_names import spelled_name, stored_name
from app.sandbox.policy.names.refusal_texts import text_of_import
from app.sandbox.policy.names.text_guards import check_name, guard_text_call, plain_str
from app.sandbox.policy.values.objects import is_function_of_program, is_of_program, mro_of
from app.sandbox.policy.values.substitutes import check_object, check_owner

_IMMUTABLE_TYPES = (
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.FrameType,
    types.CodeType, types.TracebackType,
)  # fmt: skip
_IMMUTABLE_MODULES = frozenset(
    (
        "abc",
        "contextlib",
        "dataclasses",
        "enum",
        "functools",
        "inspect",
        "joblib",
        "operator",
        "string",
        "typing",
        "warnings",
    )
)
"""Modules of the standard library whose objects control name look-up or code generation: read-only here."""


def guarded_import(
    name: str,
    globals: object = None,
    locals: object = None,
    fromlist: Sequence[str] = (),
    level: int = 0,
) -> types.ModuleType:
    """Import a listed module. Each name of a from-import passes the attribute guard. Raises ImportError.

    Compiled code of libraries imports by the caller's `__import__` too, with an empty list as `fromlist`, and
    then takes the module from `sys.modules`: for a module that is there it gets an empty one in return.
    """
    if type(fromlist) is list and not fromlist and not level and name in sys.modules:
        return types.ModuleType(name)
    if level or type(name) is not str or name not in MODULES:
        raise ImportError(text_of_import(name, MODULES) if type(name) is str else "a module has a plain name")
    module = importlib.import_module(name)
    for part in fromlist or ():
        if f"{name}.{part}" in MODULES and not hasattr(module, part):
            importlib.import_module(f"{name}.{part}")
    if not fromlist:
        return view_of(name.partition(".")[0])
    # The import statement reads the names from the returned object, so they are read here, with the guard.
    offer = types.ModuleType(name)
    for part in fromlist:
        plain_setattr(offer, part, read_attribute(view_of(name), part))
    return offer


def read_attribute(owner: Any, name: str, default: Any = MISSING) -> Any:
    """Return `owner.name` if the policy allows both name and value. Raises AttributeError."""
    name = stored_name(name)
    if name == "format_map" and isinstance(owner, str):
        return _bind_format_map(owner)
    check_name(name)
    if type(owner) is ModuleView:
        return read_from_module(owner, name, default)
    check_owner(owner)
    if name in PARTIAL_ATTRIBUTES and isinstance(owner, functools.partial | functools.partialmethod):
        raise AttributeError(f"{name!r} of a partial is not accessible here")
    value = _read_public(owner, name)
    if value is MISSING:
        value = _read_present(owner, name) if default is MISSING else plain_getattr(owner, name, default)
    if isinstance(owner, type) and value is not default:
        _check_not_inherited(owner, name)
    return _guard_value(owner, name, value)


def _read_public(owner: Any, name: str) -> Any:
    """Return what a library offers to everybody under a private name, or MISSING: columns, parts of tuples."""
    spelled = spelled_name(name)
    if spelled == name:
        return MISSING
    if isinstance(owner, pd.DataFrame):
        return owner[spelled] if spelled in owner.columns else MISSING
    kind = owner if isinstance(owner, type) else type(owner)
    fields = getattr(kind, "_fields", None) if issubclass(kind, tuple) else None
    if type(fields) is tuple and (spelled in TUPLE_NAMES or spelled in fields):
        return getattr(owner, spelled)
    return MISSING


def _read_present(owner: Any, name: str) -> Any:
    try:
        return plain_getattr(owner, name)
    except AttributeError:
        if spelled_name(name) == name:
            raise
    kind = type(owner).__name__
    raise AttributeError(f"{spelled_name(name)!r} is not accessible here: the program gave this {kind!r} none")


def _guard_value(owner: Any, name: str, value: Any) -> Any:
    if name == "format" and _is_format(value):
        return _format if isinstance(value, types.MethodDescriptorType) else _bind_format(value.__self__)
    if isinstance(value, types.ModuleType):
        raise AttributeError(f"{name!r} is not accessible here")
    value = check_object(value)
    return guard_text_call(owner, name, value) if callable(value) else value


def _check_not_inherited(owner: type, name: str) -> None:
    """Refuse a method that a class has from its metaclass: it makes classes, or changes `isinstance`."""
    is_own = any(name in vars(cls) for cls in mro_of(owner))
    inherited = plain_getattr(type(owner), name, None)
    if not is_own and callable(inherited):
        raise AttributeError(f"{name!r} of a class is not accessible here")


def _is_format(value: object) -> bool:
    """Return True for `str.format`, bound or not, by whatever way it was reached."""
    if isinstance(value, types.BuiltinMethodType):
        return isinstance(value.__self__, str)
    return isinstance(value, types.MethodDescriptorType) and issubclass(value.__objclass__, str)


class _Formatter(string.Formatter):
    """`str.format` whose attribute reads are guarded like any other."""

    def __init__(self) -> None:
        self._next_position = 0

    def parse(self, format_string: str) -> Iterator[tuple[str, str | None, str | None, str | None]]:
        """Number the fields that have none, also those such as `{.name}`, which `string.Formatter` cannot."""
        for literal, field, spec, conversion in super().parse(format_string):
            if field is not None and field[:1] in ("", ".", "["):
                field = f"{self._next_position}{field}"
                self._next_position += 1
            yield literal, field, spec, conversion

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        first, rest = _string.formatter_field_name_split(field_name)
        value = self.get_value(first, args, kwargs)
        for is_attribute, key in rest:
            value = read_attribute(value, key) if is_attribute else read_item(value, key)
        return value, first


def _format(template: str, /, *arguments: Any, **keywords: Any) -> str:
    return _Formatter().vformat(plain_str(template), arguments, keywords)


def _bind_format(template: str) -> Callable[..., str]:
    def fill(*arguments: Any, **keywords: Any) -> str:
        return _format(template, *arguments, **keywords)

    return fill


def _bind_format_map(template: str) -> Callable[[Mapping[str, Any]], str]:
    def fill(mapping: Mapping[str, Any]) -> str:
        return _Formatter().vformat(plain_str(template), (), mapping)

    return fill


def has_attribute(owner: Any, name: str) -> bool:
    """Replace `hasattr`. A special name that a program may use says truly whether it is there."""
    if type(name) is str and name in SPECIAL_READS:
        check_owner(owner)
        return hasattr(owner, name)
    try:
        read_attribute(owner, name)
    except AttributeError:
        return False
    return True


def write_attribute(owner: Any, name: str, value: Any) -> None:
    name = stored_name(name)
    check_name(name)
    setattr(check_writable(owner), name, value)


def check_writable(owner: Any) -> Any:
    """Return `owner` if it is the program's or data. Raises TypeError for modules and what libraries define."""
    if is_function_of_program(owner):
        return owner
    if isinstance(owner, _IMMUTABLE_TYPES):
        raise TypeError(f"a {type(owner).__name__} cannot be changed here")
    if isinstance(owner, type):
        if not is_of_program(owner):
            raise TypeError("classes of libraries cannot be changed here")
    elif type(owner).__module__ in _IMMUTABLE_MODULES:
        raise TypeError(f"a {type(owner).__name__} cannot be changed here")
    return owner


def read_item(owner: Any, key: Any) -> Any:
    check_owner(owner)
    return check_object(owner[key])


def change_item(operation: str, owner: Any, key: Any, value: Any) -> None:
    check_writable(owner)[key] = IN_PLACE[operation](read_item(owner, key), value)


def change_attribute(operation: str, owner: Any, name: str, value: Any) -> None:
    write_attribute(owner, name, IN_PLACE[operation](read_attribute(owner, name), value))


def change_variable(operation: str, old: Any, value: Any) -> Any:
    return IN_PLACE[operation](old, value)


def relative_open(
    path: object,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
) -> Any:
    """Replace `open`: files of the output folder, inputs by name. Raises PermissionError for other paths."""
    if not isinstance(path, str | pathlib.PurePath):
        raise TypeError("open takes a file's name as text here")
    text = plain_str(path if isinstance(path, str) else str(path))
    if text.startswith(("/", "~")) or ".." in text.split("/"):
        raise PermissionError("only files beside the program can be opened here: use a plain file name")
    return open(text, mode, buffering, encoding, errors, newline)  # noqa: PTH123 (the code closes it)
