"""Reads of special names, such as `error.__cause__`, `Base.__init__(self)` and `type(x).__name__`.

The language turns each into a call of `read_special`, with a name of SPECIAL_READS. What is read is text, a
copy, or a method that a class may define, bound to an instance of the program's own.
"""

import enum
import sys
import types
from collections.abc import Callable
from typing import Any

from app.sandbox.policy.allow_lists import CLASS_METHODS, ERROR_PARTS, LABELS, MAGIC_METHODS
from app.sandbox.policy.guards.instances import attributes_of, check_attribute_name
from app.sandbox.policy.guards.module_views import ModuleView
from app.sandbox.policy.libraries.attribute_names import plain_getattr, plain_setattr
from app.sandbox.policy.names.private_names import spelled_name
from app.sandbox.policy.values.objects import is_function_of_program, is_of_program, mro_of
from app.sandbox.policy.values.substitutes import check_object, check_owner, kind_of

_LIFE_CYCLE = frozenset({"__init__", "__enter__", "__exit__", "__post_init__"})
"""Magic methods that are read of a program's own instances only: they change what they belong to."""

_BY_NAME = frozenset({"__setattr__", "__delattr__", "__getattr__"})
"""Methods whose first argument is the name of an attribute."""

_UNREAD = frozenset({"__get__", "__set__", "__delete__", "__set_name__"})
"""Methods that a class may define, and nothing but the interpreter calls: those of libraries write by name."""

_Method = Callable[..., Any]


def read_special(owner: Any, name: str) -> Any:
    """Return what `owner.__name__` and its like give a program. Raises AttributeError for anything else."""
    if name == "__class__":
        return kind_of(owner)
    if name in LABELS:
        return read_label(owner, name)
    if name in ERROR_PARTS:
        return _read_error(owner, name)
    if name == "__dict__":
        return attributes_of(owner)
    if name == "__members__" and isinstance(owner, enum.EnumType):
        return types.MappingProxyType(dict(owner.__members__))
    if name in CLASS_METHODS and name not in _UNREAD:
        return _read_method(owner, name)
    raise AttributeError(f"{name!r} is not accessible here")


def read_label(owner: Any, name: str) -> str | None:
    """Return a name or a documentation text of a class, function or module, as plain text."""
    if name == "__version__":
        value = sys.modules[owner.__name__].__version__ if type(owner) is ModuleView else None
    elif name == "__doc__":
        check_owner(owner)
        value = plain_getattr(owner, name, None)
    elif isinstance(owner, type):
        value = type.__dict__[name].__get__(owner)
    elif isinstance(owner, _KINDS_WITH_NAMES):
        value = plain_getattr(owner, name, "")
    else:
        value = None
    if not isinstance(value, str):
        if name == "__doc__" and value is None:
            return None
        raise AttributeError(f"{name!r} is not accessible here")
    return spelled_name(str.__str__(value))


_KINDS_WITH_NAMES = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
"""Classes, beside those of classes, whose instances have a name."""


def write_label(owner: Any, name: str, text: Any) -> None:
    """Set the name or documentation of a function or class of the program. Raises TypeError for others."""
    is_own = is_of_program(owner) if isinstance(owner, type) else is_function_of_program(owner)
    if not is_own or type(text) is not str:
        raise TypeError(f"{name} is a plain text of a function or class of your own here")
    plain_setattr(owner, name, text)


def _read_error(error: Any, name: str) -> Any:
    if not isinstance(error, BaseException):
        raise AttributeError(f"{name!r} is not accessible here")
    if name == "__notes__":
        return list(plain_getattr(error, name, ()))
    return check_object(plain_getattr(BaseException, name).__get__(error))


def _read_method(owner: Any, name: str) -> Any:
    if type(owner) is super:
        return _method_of_super(owner, name)
    check_owner(owner)
    if isinstance(owner, type):
        return _method_of_class(owner, name)
    if name not in MAGIC_METHODS or (name in _LIFE_CYCLE and not is_of_program(type(owner))):
        raise AttributeError(f"{name!r} of a {type(owner).__name__!r} object is not accessible here")
    return check_object(plain_getattr(owner, name))


def _method_of_super(owner: super, name: str) -> Any:
    """Return a method of the next base, for an instance whose class is the program's own."""
    # Another class in `super(kind, self)` would skip the stand-ins of this policy, such as that of arrays.
    if not is_of_program(super.__dict__["__thisclass__"].__get__(owner)):
        raise AttributeError("super of a library's class is not accessible here: use super()")
    method = plain_getattr(owner, name)
    if name == "__new__":
        return _make_of_program(method)
    return _with_guard(name, method)


def _with_guard(name: str, method: _Method) -> _Method:
    """Return a method of a base, with a guard around it if it takes names or the memory of a copy."""
    if name == "__deepcopy__":
        return lambda memo=None: method({})
    return _by_checked_name(method) if name in _BY_NAME else method


def _method_of_class(kind: type, name: str) -> _Method:
    """Return `kind.name` for calls with an instance of a program's class that derives from `kind`."""
    if name == "__new__":
        return _make_of_program(plain_getattr(kind, name), kind)
    # Not by getattr, which also gives the methods of the metaclass.
    definitions = [vars(base)[name] for base in mro_of(kind) if name in vars(base)]
    if not definitions or isinstance(definitions[0], classmethod):
        raise AttributeError(
            f"{name!r} of the class {kind.__name__!r} is not accessible here: use super().{name}"
        )
    if name in _BY_NAME and not is_of_program(kind) and kind is not object:
        raise AttributeError(
            f"{name!r} of the class {kind.__name__!r} is not accessible here: use super().{name}"
        )

    def call(instance: Any, *arguments: Any, **options: Any) -> Any:
        own_kind = type(instance)
        if not is_of_program(own_kind) or kind not in mro_of(own_kind):
            raise TypeError(
                f"{kind.__name__}.{name} takes an instance of a class of yours that derives from it here"
            )
        if kind is object and definitions[0] is not first_of_library(own_kind, name):
            raise TypeError(
                f"object.{name} would pass by that of a base of {own_kind.__name__}: use super().{name}"
            )
        return _with_guard(name, definitions[0].__get__(instance, own_kind))(*arguments, **options)

    return call


def first_of_library(kind: type, name: str) -> Any:
    """Return what the first base that is not the program's own has under a name, unbound."""
    return next(vars(base)[name] for base in mro_of(kind) if not is_of_program(base) and name in vars(base))


def _make_of_program(make: _Method, base: type = object) -> _Method:
    def make_instance(kind: Any, *arguments: Any, **options: Any) -> Any:
        if not isinstance(kind, type) or not is_of_program(kind) or base not in mro_of(kind):
            raise TypeError("__new__ takes a class of yours that derives from the one it is read from, here")
        return make(kind, *arguments, **options)

    return make_instance


def _by_checked_name(method: _Method) -> _Method:
    def call(name: Any, *value: Any) -> Any:
        return check_object(method(check_attribute_name(name), *value))

    return call
