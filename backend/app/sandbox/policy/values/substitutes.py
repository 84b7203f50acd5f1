"""Substitutes for functions and classes that would read names or make classes unguarded.

A program gets the substitute wherever it reads the original (`check_object`); the original itself is denied.
"""

import builtins
import collections
import dataclasses
import enum
import functools
import inspect
import keyword
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from app.sandbox.policy.values.array_types import Array
from app.sandbox.policy.values.objects import deny, refusal

_WRAPPER_ATTRIBUTES = ("__module__", "__name__", "__qualname__", "__doc__")
"""Attributes that `functools.wraps` copies, but `__wrapped__` and `__dict__`: they would hold the function."""


def _update_wrapper(wrapper: Any, wrapped: Any) -> Any:
    for name in _WRAPPER_ATTRIBUTES:
        value = getattr(wrapped, name, None)
        if type(value) is str and hasattr(wrapper, "__code__"):
            setattr(wrapper, name, value)
    return wrapper


def _wraps(wrapped: Callable[..., Any]) -> Callable[[Any], Any]:
    def decorate(wrapper: Any) -> Any:
        return _update_wrapper(wrapper, wrapped)

    return decorate


def _dataclass(cls: type | None = None, **options: Any) -> Any:
    """Apply `dataclasses.dataclass` after a check of the fields' names, which it pastes into source text."""

    def decorate(cls: type) -> type:
        for name in inspect.get_annotations(cls):
            _check_identifier(name)
        return dataclasses.dataclass(cls, **options)

    return decorate if cls is None else decorate(cls)


def _fields(class_or_instance: Any) -> tuple[types.SimpleNamespace, ...]:
    """Describe the fields of a dataclass by copies: what is written to one names no attribute."""
    return tuple(
        _SimpleNamespace(**{name: getattr(part, name) for name in _FIELD_PARTS})
        for part in dataclasses.fields(class_or_instance)
    )


_FIELD_PARTS = (
    "name",
    "type",
    "default",
    "default_factory",
    "init",
    "repr",
    "hash",
    "compare",
    "metadata",
    "kw_only",
)


def _check_identifier(name: object) -> None:
    is_plain = type(name) is str and name.isidentifier() and not keyword.iskeyword(name)
    if not is_plain or str(name).startswith("__"):
        raise TypeError(f"{name!r} cannot be the name of a field here")


def _namedtuple(
    typename: str, field_names: str | Iterable[str], *, rename: bool = False, defaults: Any = None
) -> type:
    fields = field_names if isinstance(field_names, str) else [str.__str__(name) for name in field_names]
    new_type = collections.namedtuple(typename, fields, rename=rename, defaults=defaults)  # type: ignore[misc, arg-type]  # the caller's
    new_type.__module__ = "__main__"
    return new_type


class _SimpleNamespace(types.SimpleNamespace):
    """A namespace without special names: libraries ask objects for them, and `copy` calls what they give."""

    def __init__(self, /, **variables: Any) -> None:
        # Not names of a subclass of str, which could pass the check and be looked up as others.
        plain = {str.__str__(name): value for name, value in variables.items()}
        for name in plain:
            if name.startswith("__"):
                raise TypeError(f"{name!r} cannot be the name of a variable here")
        super().__init__(**plain)


_SimpleNamespace.__module__ = "types"


class _CachedProperty:
    """A cached property that keeps its value under the name that the class statement gives it, and no other."""

    def __init__(self, func: Callable[[Any], Any]) -> None:
        self._function = func
        self._name: str | None = None
        self.__doc__ = getattr(func, "__doc__", None)

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        if self._name is None:
            raise TypeError("a cached_property has no name: bind it in a class statement")
        values = object.__getattribute__(instance, "__dict__")
        if self._name not in values:
            values[self._name] = self._function(instance)
        return values[self._name]


_CachedProperty.__module__ = "types"


class _ByStatement(enum.EnumType):
    """Metaclass of enumerations whose call looks up a member, and never makes a class."""

    def __call__(cls, value: object) -> Any:  # type: ignore[override]  # that is the point
        return super().__call__(value)


class _Enum(enum.Enum, metaclass=_ByStatement):
    pass


class _IntEnum(enum.IntEnum, metaclass=_ByStatement):
    pass


class _StrEnum(enum.StrEnum, metaclass=_ByStatement):
    pass


class _Flag(enum.Flag, metaclass=_ByStatement):
    pass


class _IntFlag(enum.IntFlag, metaclass=_ByStatement):
    pass


def _copy_name(substitute: Any, original: Any) -> Any:
    """Give the substitute the original's name, for messages and `repr`."""
    substitute.__name__ = substitute.__qualname__ = original.__name__
    return substitute


def _by_statement_only(original: Any) -> Any:
    """Make a substitute for class statements only: a call would take names that are no identifiers."""

    def refuse(*_: object, **__: object) -> Any:
        raise TypeError(f"{original.__name__} is allowed in a class statement only")

    def entries(bases: tuple[Any, ...]) -> Any:
        return original.__mro_entries__(tuple(original if base is refuse else base for base in bases))

    refuse.__mro_entries__ = entries  # type: ignore[attr-defined]  # read by the class statement
    return refuse


def _is_instance(value: object, kinds: Any) -> bool:
    return isinstance(value, _replace_kind_of(kinds))


def _is_subclass(kind: Any, kinds: Any) -> bool:
    return issubclass(kind, _replace_kind_of(kinds))


def _replace_kind_of(kinds: Any) -> Any:
    """Replace `kind_of` by `type`: a program's name `type` is that function."""
    if kinds is kind_of:
        return type
    return tuple(_replace_kind_of(kind) for kind in kinds) if type(kinds) is tuple else kinds


def kind_of(value: object, /) -> type:
    """Return `type(value)`. Other uses of `type` make classes without the policy's checks."""
    kind: type = check_object(type(value))
    return kind


def _substitutes() -> dict[int, Any]:
    pairs: list[tuple[Any, Any]] = [
        (functools.cached_property, _CachedProperty),
        (functools.wraps, _wraps),
        (functools.update_wrapper, _update_wrapper),
        (dataclasses.dataclass, _dataclass),
        (dataclasses.fields, _fields),
        (collections.namedtuple, _namedtuple),
        (enum.Enum, _Enum),
        (enum.IntEnum, _IntEnum),
        (enum.StrEnum, _StrEnum),
        (enum.Flag, _Flag),
        (enum.IntFlag, _IntFlag),
        (types.SimpleNamespace, _SimpleNamespace),
        (np.ndarray, Array),
        (typing.TypedDict, _by_statement_only(typing.TypedDict)),
        (typing.NamedTuple, _by_statement_only(typing.NamedTuple)),
        (builtins.isinstance, _is_instance),
        (builtins.issubclass, _is_subclass),
    ]
    table = {}
    for original, substitute in pairs:
        table[id(original)] = _copy_name(substitute, original)
    # Calling an alias makes an array too.
    table[id(npt.NDArray)] = types.GenericAlias(Array, typing.get_args(npt.NDArray))
    return table


SUBSTITUTES = _substitutes()
for _original in (functools.cached_property, functools.wraps, functools.update_wrapper, enum.EnumType):
    deny(_original, f"{_original.__module__}.{_original.__name__}")


def check_object(value: Any) -> Any:
    """Return `value`, or its substitute. Raises AttributeError for an object that no program may hold."""
    substitute = SUBSTITUTES.get(id(value))
    if substitute is not None:
        return substitute
    reason = refusal(value)
    if reason is not None:
        raise AttributeError(f"{reason} is not accessible here")
    if type(value) is types.MappingProxyType:
        # A comparison shows the other side the mapping behind the proxy, such as the fields of a dtype.
        return types.MappingProxyType(dict(value))
    return value


def check_owner(owner: Any) -> None:
    """Raise AttributeError for an object that no program may hold, however a library came to hand it out."""
    reason = refusal(owner)
    if reason is not None:
        raise AttributeError(f"{reason} is not accessible here")
