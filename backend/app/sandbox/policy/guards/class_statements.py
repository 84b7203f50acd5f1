"""Guards of what a class statement binds: private names of bases, slots, methods that the interpreter calls."""

import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from app.sandbox.policy.guards.instances import check_attribute_name
from app.sandbox.policy.guards.special_names import first_of_library
from app.sandbox.policy.names.private_names import mangled_name, spelled_name
from app.sandbox.policy.names.text_guards import plain_str

_Method = Callable[..., Any]


def check_overrides(kind: type) -> type:
    """Return a program's class. Raises TypeError if it would replace a private name of a library's class."""
    for name in vars(kind):
        spelled = spelled_name(name)
        if spelled != name and any(spelled in vars(base) for base in kind.__mro__[1:]):
            raise TypeError(
                f"{spelled!r} is a private name of a base of {kind.__name__}, and stays as it is here"
            )
    return kind


def stored_attribute_names(class_name: str, names: Any) -> tuple[str, ...]:
    """Return the stored names of `__slots__` or `__match_args__`. Raises TypeError, AttributeError."""
    texts: Iterable[Any] = (names,) if isinstance(names, str) else names
    return tuple(_stored_attribute_name(class_name, text) for text in texts)


def _stored_attribute_name(class_name: str, name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{name!r} cannot be the name of an attribute")
    return check_attribute_name(mangled_name(plain_str(name), class_name))


def without_traceback(value: Any) -> Any:
    """Return an argument of `__exit__`, which is called with a traceback, as a program may hold it."""
    if type(value) is tuple:
        return tuple(map(without_traceback, value))
    return None if isinstance(value, types.TracebackType) else value


def _guard_exit(method: _Method) -> _Method:
    def __exit__(self: Any, *details: Any, **options: Any) -> Any:
        values = {name: without_traceback(value) for name, value in options.items()}
        return method(self, *map(without_traceback, details), **values)

    return __exit__


def _guard_reads(method: _Method) -> _Method:
    def __getattr__(self: Any, name: str) -> Any:
        # Libraries ask objects for special names: numpy reads memory at the address in `__array_interface__`.
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return method(self, spelled_name(name))

    return __getattr__


def _guard_writes(method: _Method) -> _Method:
    def __setattr__(self: Any, name: str, value: Any) -> None:
        if name.startswith("_"):  # of a library, which finds it again under this name
            first_of_library(type(self), "__setattr__")(self, name, value)
        else:
            method(self, spelled_name(name), value)

    return __setattr__


def _guard_deletions(method: _Method) -> _Method:
    def __delattr__(self: Any, name: str) -> None:
        if name.startswith("_"):
            first_of_library(type(self), "__delattr__")(self, name)
        else:
            method(self, spelled_name(name))

    return __delattr__


def _guard_naming(method: _Method) -> _Method:
    def __set_name__(self: Any, owner: type, name: str) -> None:
        method(self, owner, spelled_name(name))

    return __set_name__


def _guard_copy(method: _Method) -> _Method:
    def __deepcopy__(self: Any, memo: object) -> Any:
        # The real one holds the attributes of every object that is copied, and what is written there is kept.
        return method(self, {})

    return __deepcopy__


_GUARDS: Mapping[str, Callable[[_Method], _Method]] = {
    "__deepcopy__": _guard_copy,
    "__delattr__": _guard_deletions,
    "__exit__": _guard_exit,
    "__getattr__": _guard_reads,
    "__set_name__": _guard_naming,
    "__setattr__": _guard_writes,
}

GUARDED_METHODS = frozenset(_GUARDS)
"""Methods that get a guard: they are called with names, tracebacks or parts of libraries."""


def guard_method(name: str) -> Callable[[Any], _Method]:
    """Return the decorator of a method of GUARDED_METHODS. It raises TypeError for other than functions."""

    def decorate(method: Any) -> _Method:
        if not isinstance(method, types.FunctionType):
            raise TypeError(f"{name} must be a plain function here, not a {type(method).__name__}")
        return _GUARDS[name](method)

    return decorate
