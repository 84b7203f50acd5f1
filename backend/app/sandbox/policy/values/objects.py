"""Objects that a program may hold, by identity and by the module that they come from.

The fuzzer's oracle is the same table.
"""

import builtins
import contextlib
import datetime
import io
import pkgutil
import types
from collections.abc import Iterable
from typing import Any

from RestrictedPython.Guards import safe_builtins

from app.sandbox.policy.allow_lists import BUILTINS, DENIED_OBJECTS, may_hold_from

PROGRAM_FILE = "<code>"
"""File name of a program's code."""

_Capsule = type(vars(datetime)["datetime_CAPI"])
"""Class of pointers between compiled modules, which do not keep alive what they point to."""

_INTERPRETER_TYPES = (
    types.FrameType, types.CodeType, types.TracebackType, types.CellType, types.ModuleType, _Capsule,
)  # fmt: skip

_INERT: Iterable[type] = (
    type(None), type(...), type(NotImplemented), range, slice, complex, bytearray, bytes,
    type({}.keys()), type({}.values()), type({}.items()), type(iter({})), type(iter([])), type(iter(())),
    type(iter("")), type(iter(range(0))), type(iter(set())), type(iter(b"")), type(reversed([])),
    types.GeneratorType, types.GenericAlias, types.UnionType, types.SimpleNamespace, types.MappingProxyType,
    types.WrapperDescriptorType, types.MethodWrapperType,
    types.MethodDescriptorType, types.ClassMethodDescriptorType, types.GetSetDescriptorType,
    types.MemberDescriptorType, types.BuiltinFunctionType, types.DynamicClassAttribute,
)  # fmt: skip
"""Builtin classes without a name in `builtins` that make no code or class, and whose instances lead to none."""

_OPAQUE = (
    types.FunctionType, types.MethodType, memoryview,
    io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.BufferedRWPair,
)  # fmt: skip
"""Builtin classes that a program may not hold, though it has instances.

They make functions, views, and buffers whose memory an object of the program gets to fill, and could keep.
"""


def _underlying_function(value: object) -> object:
    """Return the function of a method, since reading a method makes a new object each time."""
    return value.__func__ if isinstance(value, types.MethodType) else value


def _find_denied() -> dict[int, str]:
    """Resolve DENIED_OBJECTS, as far as this installation has them. Returns names by identity."""
    denied = {}
    for path in DENIED_OBJECTS:
        with contextlib.suppress(ImportError, AttributeError):
            denied[id(_underlying_function(pkgutil.resolve_name(path)))] = path
    return denied


class ModuleOfProgram(types.ModuleType):
    """Base of the views of modules, the only modules that a program may hold."""


_PUBLIC = {name: getattr(builtins, name) for name in (*BUILTINS, *safe_builtins) if hasattr(builtins, name)}
_BUILTINS = {id(value) for value in (*_PUBLIC.values(), *_INERT)}
_DENIED = _find_denied()  # when the zygote imports this, not in every cell
_DENIED_METHODS = frozenset({path.rpartition(".")[2] for path in _DENIED.values()})
_PLAIN_TYPES: dict[type, bool] = {}
"""Cache by class: True if any instance may be held."""


def is_of_program(kind: type) -> bool:
    """Return True for a class that a class statement of a program made."""
    return bool(type.__getattribute__(kind, "__module__") == "__main__")


def mro_of(kind: type) -> tuple[type, ...]:
    """Return the bases in the order of look-up, past any `__mro__` that a metaclass may answer."""
    order: tuple[type, ...] = type.__dict__["__mro__"].__get__(kind)
    return order


def is_function_of_program(value: object) -> bool:
    """Return True for a function that a program defined, unlike the closures of this policy."""
    return isinstance(value, types.FunctionType) and "_inplacevar_" in value.__globals__


def refusal(value: object) -> str | None:  # noqa: C901 (a ladder of exact classes, in the order of their frequency)
    """Return the reason why no program may hold `value`; None if it may."""
    kind = type(value)
    plain = _PLAIN_TYPES.get(kind)
    if plain is None:
        plain = _PLAIN_TYPES[kind] = _is_plain(kind)
    if plain:
        return None
    if id(value) in _DENIED:
        return _DENIED[id(value)]
    if kind is types.MethodDescriptorType:
        return None
    if kind is types.FunctionType:
        return _function_refusal(value)  # type: ignore[arg-type]  # checked by its exact class
    if kind is types.MethodType:
        return refusal(value.__func__)  # type: ignore[attr-defined]  # the same
    if kind is types.BuiltinFunctionType:
        return _builtin_refusal(value)
    if issubclass(kind, type):
        return _class_refusal(value)  # type: ignore[arg-type]  # the same
    if issubclass(kind, types.ModuleType):
        return None if issubclass(kind, ModuleOfProgram) else f"module {value.__name__}"  # type: ignore[attr-defined]  # the same
    if kind is dict:
        return "the names of a module" if "__builtins__" in value else None  # type: ignore[operator]  # the same
    if issubclass(kind, _INTERPRETER_TYPES):
        return f"a {kind.__name__}"
    module_name = getattr(value, "__module__", None)
    if callable(value) and isinstance(module_name, str):  # a function of a compiled module, a ufunc
        return (
            None
            if module_name == "builtins" or may_hold_from(module_name)
            else f"a {kind.__name__} of {module_name}"
        )
    return f"a {kind.__name__} of {kind.__module__}"


def _is_plain(kind: type) -> bool:
    """Return True for a class of data, any instance of which a program may hold."""
    if issubclass(kind, (type, *_INTERPRETER_TYPES)) or kind is dict or kind in _CALLABLE_TYPES:
        return False
    if id(kind) in _DENIED:
        return False
    if issubclass(kind, BaseException) or issubclass(kind, (types.GeneratorType, memoryview)):
        return True
    module_name = type.__getattribute__(kind, "__module__")
    if kind.__name__ == "cython_function_or_method":
        return False
    return isinstance(module_name, str) and (module_name == "builtins" or may_hold_from(module_name))


_CALLABLE_TYPES = frozenset(
    {types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodDescriptorType}
)


def _function_refusal(function: types.FunctionType) -> str | None:
    module_name = function.__globals__.get("__name__", "")
    if module_name.startswith("app.sandbox.policy.") or may_hold_from(module_name):
        return None
    return f"{module_name}.{function.__qualname__}"


def _builtin_refusal(value: Any) -> str | None:
    owner = value.__self__
    if isinstance(owner, types.ModuleType):
        if owner is builtins:
            return None if id(value) in _BUILTINS else f"builtins.{value.__name__}"
        return None if may_hold_from(owner.__name__) else f"{owner.__name__}.{value.__name__}"
    if owner is None:
        module_name = getattr(value, "__module__", None) or ""
        return None if not module_name or may_hold_from(module_name) else f"{module_name}.{value.__name__}"
    if isinstance(owner, type):
        return refusal(owner)
    # A bound method of a builtin class is a new object at each read, unlike the method of the class.
    if value.__name__ in _DENIED_METHODS:
        return _DENIED.get(id(getattr(type(owner), value.__name__, None)))
    return None


def _class_refusal(value: type) -> str | None:
    if issubclass(value, type):
        return f"a class of classes, {value.__name__}"
    if issubclass(value, BaseException) or id(value) in _BUILTINS:
        return None
    module_name = type.__getattribute__(value, "__module__")
    if module_name == "builtins" or value in _OPAQUE:
        return f"builtins.{value.__name__}"
    if issubclass(value, _INTERPRETER_TYPES):
        return f"{module_name}.{value.__name__}"
    return (
        None
        if isinstance(module_name, str) and may_hold_from(module_name)
        else f"{module_name}.{value.__name__}"
    )


def deny(value: object, name: str) -> None:
    """Refuse `value` to programs from now on; `name` stands for it in messages."""
    _DENIED[id(_underlying_function(value))] = name
    _DENIED_REFERENCES.append(value)


_DENIED_REFERENCES: list[object] = []
"""Objects denied later, kept alive so that no other object gets the identity of one."""
