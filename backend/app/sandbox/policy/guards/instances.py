"""Attributes of instances as mappings, and variables of the calling code: `vars`, `globals`, `locals`.

Each answer is a new dict of what the program's text can name, so that no `__dict__` and no scope is held.
"""

import sys
import types
from collections.abc import Iterable, Mapping
from typing import Any

from app.sandbox.policy.audit_hook import is_program_frame
from app.sandbox.policy.names.private_names import is_private, is_transformers_own, spelled_name, stored_name
from app.sandbox.policy.names.text_guards import check_name
from app.sandbox.policy.values.objects import is_of_program, mro_of
from app.sandbox.policy.values.substitutes import SUBSTITUTES, check_object

_PLAIN_MODULES = frozenset({"__main__", "abc", "builtins", "collections.abc", "typing"})
"""Modules of the bases of plain classes: they keep nothing of a library in their instances."""

_NAMESPACES = (types.SimpleNamespace, SUBSTITUTES[id(types.SimpleNamespace)])
"""Classes of namespaces, which are plain though no program's."""

_NOTHING = object()


def is_plain(kind: type) -> bool:
    """Return True for a program's class that derives from no library's: all attributes are the program's."""
    is_own = is_of_program(kind) or kind in _NAMESPACES
    return is_own and all(base.__module__ in _PLAIN_MODULES or base in _NAMESPACES for base in mro_of(kind))


def check_attribute_name(name: Any) -> str:
    """Return the stored name of an attribute that a program gives as text. Raises TypeError, AttributeError."""
    if type(name) is not str:
        raise TypeError("an attribute's name must be a str")
    stored = stored_name(name)
    check_name(stored)
    return stored


class Attributes(dict[str, Any]):
    """Attributes of an instance of a plain class. What is written is written to the instance too."""

    __slots__ = ("_values",)

    def __init__(self, owner: object) -> None:
        if not is_plain(type(owner)):
            raise TypeError(f"the attributes of a {type(owner).__name__!r} object are not accessible here")
        self._values: dict[str, Any] = object.__getattribute__(owner, "__dict__")
        super().__init__(_readable(self._values))

    def __setitem__(self, name: str, value: Any) -> None:
        self._values[check_attribute_name(name)] = value
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        del self._values[check_attribute_name(name)]
        super().__delitem__(name)

    def __ior__(self, other: Any) -> "Attributes":  # type: ignore[override,misc]  # as dict has it
        self.update(other)
        return self

    def update(self, *others: Any, **attributes: Any) -> None:
        for name, value in dict(*others, **attributes).items():
            self[name] = value

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def pop(self, name: str, default: Any = _NOTHING) -> Any:
        if name not in self and default is not _NOTHING:
            return default
        value = self[name]
        del self[name]
        return value

    def popitem(self) -> tuple[str, Any]:
        name = next(reversed(self))
        return name, self.pop(name)

    def clear(self) -> None:
        for name in list(self):
            del self[name]


Attributes.__module__ = "types"


def _readable(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the attributes that a program's text can name, by that name."""
    names = [name for name in values if type(name) is str and not name.startswith("_")]
    return {spelled_name(name): check_object(values[name]) for name in names}


def attributes_of(owner: Any) -> dict[str, Any]:
    """Return `vars(owner)`, for an instance of a program's class. Raises TypeError for other objects.

    An instance whose class derives from a library's gives a copy, without that library's private attributes.
    """
    kind = type(owner)
    if not is_plain(kind) and not is_of_program(kind):
        raise TypeError(
            f"vars and __dict__ of a {kind.__name__!r} object are not accessible here, those of instances of "
            "your own classes are: use dir(value) and getattr(value, name)"
        )
    try:
        values = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        raise TypeError(f"a {kind.__name__!r} object has no __dict__") from None
    return Attributes(owner) if is_plain(kind) else _readable(values)


def variables_or_attributes(*owner: Any) -> dict[str, Any]:
    """Replace `vars`: the attributes of an instance, or the variables of the calling code."""
    return attributes_of(*owner) if owner else _variables(sys._getframe(1), of_module=False)


def global_variables() -> dict[str, Any]:
    """Replace `globals`: a copy of the program's variables."""
    return _variables(sys._getframe(1), of_module=True)


def local_variables() -> dict[str, Any]:
    """Replace `locals`: a copy of the variables of the calling function."""
    return _variables(sys._getframe(1), of_module=False)


def _variables(frame: types.FrameType, *, of_module: bool) -> dict[str, Any]:
    # A library that calls one of these on a program's behalf would give its own variables away.
    if not is_program_frame(frame):
        raise TypeError("globals, locals and vars are called by the program's own code only here")
    values = frame.f_globals if of_module else frame.f_locals
    return {spelled_name(name): values[name] for name in _names_of_program(values)}


def _names_of_program(values: Iterable[str]) -> list[str]:
    return [
        name
        for name in list(values)
        if name.isidentifier()
        and (not name.startswith("_") or (is_private(name) and not is_transformers_own(name)))
    ]
